"""Limits that fit give no finding; each that does not gives one that says how."""

from dataclasses import replace

import pytest

from tests.check.samples import DRAFT, DRAFT_TARGET, MODEL, subject
from trtspec.check.rules.limits import (
    concurrency,
    context_length,
    draft_fits,
    output_tokens,
    schedule_reached,
)

SCHEDULE = {"method": "ngram", "draft_length": {4: 6, 8: 4, 16: 2, 64: 1}}


def limits(**keys):
    return {"max_input_tokens": 8, "max_total_tokens": 64, **keys}


def workload(**keys):
    return {"prompts": "prompts.jsonl", **keys}


def only(findings):
    """Give the one finding of a rule."""
    (finding,) = findings
    return finding


def test_a_sequence_as_long_as_the_context_is_fine():
    assert not list(context_length(subject(limits=limits(max_total_tokens=4096))))


def test_a_sequence_beyond_the_context_is_blocking_with_the_number_that_fits():
    finding = only(context_length(subject(limits=limits(max_total_tokens=4097))))
    assert finding.severity == "blocking"
    assert finding.where == "limits.max_total_tokens"
    assert "max_total_tokens 4097 is above the 4096 tokens" in finding.what
    assert "target" in finding.what
    assert "4096 or less" in finding.action


def test_the_draft_models_context_counts_too():
    short = replace(DRAFT, context_length=32)
    found = subject(MODEL, short, limits=limits(), speculation=DRAFT_TARGET)
    finding = only(context_length(found))
    assert "above the 32 tokens that the draft model" in finding.what


def test_models_with_one_limit_are_told_of_once():
    both = subject(
        MODEL, DRAFT, limits=limits(max_total_tokens=4097), speculation=DRAFT_TARGET
    )
    finding = only(context_length(both))
    assert "that the target and the draft models were made for" in finding.what


def test_of_two_limits_the_smaller_one_is_to_be_met():
    shorter = replace(DRAFT, context_length=32)
    asked = limits(max_total_tokens=4097)
    found = subject(MODEL, shorter, limits=asked, speculation=DRAFT_TARGET)
    target, draft = context_length(found)
    assert ("4096 tokens" in target.what, "32 tokens" in draft.what) == (True, True)
    assert target.action == draft.action == "set limits.max_total_tokens to 32 or less"


@pytest.mark.parametrize("target", [None, replace(MODEL, context_length=None)])
def test_a_model_without_a_known_context_gives_no_finding(target):
    assert not list(context_length(subject(target)))


@pytest.mark.parametrize(
    ("draft_length", "blocked"), [(63, False), (64, True), (256, True)]
)
def test_a_draft_must_be_shorter_than_a_sequence(draft_length, blocked):
    method = {"method": "ngram", "draft_length": draft_length}
    findings = list(draft_fits(subject(speculation=method, limits=limits())))
    assert bool(findings) == blocked
    for finding in findings:
        assert finding.severity == "blocking"
        assert finding.where == "speculation.draft_length"
        assert f"draft of {draft_length} tokens" in finding.what


def test_the_longest_entry_of_a_map_must_fit_too():
    method = {"method": "ngram", "draft_length": {1: 100, 8: 2}}
    finding = only(draft_fits(subject(speculation=method, limits=limits())))
    assert "draft of 100 tokens" in finding.what


@pytest.mark.parametrize(
    ("method", "keys"),
    [
        ({"method": "medusa", "model": "./d"}, "tree"),
        ({"method": "redrafter", "model": "./d"}, "draft_length_per_beam or num_beams"),
        ({"method": "lookahead"}, "window_size or ngram_size or verification_set_size"),
    ],
    ids=lambda value: value["method"] if isinstance(value, dict) else "",
)
def test_what_decides_on_a_drafts_size_is_what_to_change(method, keys):
    small = {"max_input_tokens": 1, "max_total_tokens": 8}
    finding = only(draft_fits(subject(speculation=method, limits=small)))
    assert finding.action == (
        f"choose a smaller {keys}, or raise limits.max_total_tokens"
    )
    assert finding.where == f"speculation.{keys.partition(' ')[0]}"


def test_no_speculation_fits_anything():
    found = subject(
        speculation={"method": "none"},
        limits={"max_input_tokens": 1, "max_total_tokens": 2},
    )
    assert not list(draft_fits(found))
    assert not list(schedule_reached(found))


@pytest.mark.parametrize(
    ("batch", "unused"),
    [(64, ""), (17, ""), (16, "64"), (8, "16, 64"), (1, "8, 16, 64")],
)
def test_entries_above_the_batch_size_are_pointed_at(batch, unused):
    found = subject(speculation=SCHEDULE, limits={"max_batch_size": batch})
    findings = list(schedule_reached(found))
    assert bool(findings) == bool(unused)
    for finding in findings:
        assert finding.severity == "warning"
        assert f"up to {unused} running requests never apply" in finding.what


def test_an_entry_pointed_at_is_one_that_no_batch_reaches():
    found = subject(speculation=SCHEDULE, limits={"max_batch_size": 8})
    method = found.recipe.speculation
    reached = {method.draft_length_at(running) for running in range(1, 9)}
    assert reached == {6, 4}
    assert "16, 64" in only(schedule_reached(found)).what


def test_a_load_within_the_batch_size_is_fine():
    found = subject(limits={"max_batch_size": 4}, workload=workload(concurrency=[1, 4]))
    assert not list(concurrency(found))


def test_a_load_above_the_batch_size_waits():
    found = subject(
        limits={"max_batch_size": 4}, workload=workload(concurrency=[1, 5, 8])
    )
    finding = only(concurrency(found))
    assert finding.severity == "warning"
    assert finding.where == "workload.concurrency"
    assert "concurrency 5, 8 is above max_batch_size 4" in finding.what
    assert "TTFT" in finding.why


def test_a_load_that_meets_no_drafts_is_noted():
    found = subject(
        speculation={"method": "ngram", "draft_length": {2: 4}},
        workload=workload(concurrency=[1, 2, 3, 8]),
    )
    finding = only(concurrency(found))
    assert finding.severity == "note"
    assert "proposes nothing at concurrency 3, 8" in finding.what


def test_without_speculation_or_workload_no_drafts_are_expected():
    plain = subject(speculation={"method": "none"}, workload=workload(concurrency=[8]))
    assert not list(concurrency(plain))
    assert not list(concurrency(subject()))
    assert not list(output_tokens(subject()))


@pytest.mark.parametrize(("output", "warned"), [(56, False), (57, True)])
def test_output_that_the_longest_prompt_leaves_no_room_for_is_pointed_at(
    output, warned
):
    found = subject(limits=limits(), workload=workload(output_tokens=output))
    findings = list(output_tokens(found))
    assert bool(findings) == warned
    for finding in findings:
        assert finding.severity == "warning"
        assert f"room for 56 of the {output} output tokens" in finding.what

"""Limits and capacities that trtllm-build takes pass; others are refused or told."""

import pytest

from tests.check.samples import MODEL
from tests.trtllm.engine.rules.findings import findings, only, variant
from tests.trtllm.engine.samples import recipe
from trtspec.trtllm.engine.rules.lengths import (
    batch_of_eagle,
    capacity_is_settable,
    draft_capacity_holds,
    draft_has_room,
    tokens_are_few_enough,
    tokens_take_the_longest_input,
)


def of_batch(batch, method="eagle", **fields):
    return recipe(method, limits={"max_batch_size": batch}, **fields)


def test_eagle_for_up_to_512_requests_passes():
    assert not findings(batch_of_eagle, of_batch(512))
    assert not findings(batch_of_eagle, of_batch(513, "medusa"))


def test_eagle_for_more_requests_is_refused():
    finding = only(batch_of_eagle, of_batch(513))
    assert (finding.severity, finding.where) == ("blocking", "limits.max_batch_size")
    assert finding.what == "max_batch_size 513 with method eagle"
    assert "512" in finding.why


@pytest.mark.parametrize("capacity", [None, 4, 5])
def test_draft_within_the_capacity_passes(capacity):
    made = recipe("ngram", draft_length=4, engine={"max_draft_length": capacity})
    assert not findings(draft_capacity_holds, made)


def test_draft_beyond_the_capacity_is_refused_with_both_numbers():
    made = recipe("ngram", draft_length={2: 9, 8: 4}, engine={"max_draft_length": 8})
    finding = only(draft_capacity_holds, made)
    assert (finding.severity, finding.where) == ("blocking", "speculation.draft_length")
    assert "a draft of 9 tokens" in finding.what
    assert "built for 8 (engine.max_draft_length)" in finding.what


def test_capacity_of_drafts_from_outside_and_enough_tokens_pass():
    engine = {"max_draft_length": 8}
    assert not findings(capacity_is_settable, recipe("ngram", engine=engine))


@pytest.mark.parametrize(
    "method", ["none", "medusa", "eagle", "redrafter", "lookahead"]
)
def test_capacity_that_has_no_effect_is_refused(method):
    made = recipe(method, engine={"max_draft_length": 200})
    finding = only(capacity_is_settable, made)
    assert (finding.severity, finding.where) == ("blocking", "engine.max_draft_length")
    assert finding.what == f"max_draft_length 200 with method {method}"
    assert finding.action == "delete engine.max_draft_length"


def test_capacity_that_has_no_effect_is_told_once():
    made = recipe("medusa", engine={"max_draft_length": 1})
    assert len(findings(capacity_is_settable, made)) == 1
    assert not findings(draft_capacity_holds, made)


SHORT = {"max_input_tokens": 200, "max_total_tokens": 400}


def test_tokens_that_the_builder_raises_are_a_warning_with_both_numbers():
    made = recipe("medusa", limits=SHORT, engine={"max_num_tokens": 255})
    finding = only(tokens_take_the_longest_input, made)
    assert (finding.severity, finding.where) == ("warning", "engine.max_num_tokens")
    assert "max_num_tokens 255 is below 256" in finding.what


@pytest.mark.parametrize(
    ("method", "tokens"), [("none", 1024), ("medusa", 1024), ("ngram", 2048)]
)
def test_tokens_that_take_the_longest_input_pass(method, tokens):
    made = recipe(method, engine={"max_num_tokens": tokens})
    assert not findings(tokens_take_the_longest_input, made)
    assert not findings(tokens_take_the_longest_input, recipe(method))


@pytest.mark.parametrize(
    ("method", "tokens", "longest", "key"),
    [
        ("none", 1023, 1024, "max_input_tokens"),
        ("lookahead", 500, 1024, "max_input_tokens"),
        ("ngram", 2047, 2048, "max_total_tokens"),
        ("draft_target", 1024, 2048, "max_total_tokens"),
    ],
)
def test_fewer_tokens_than_the_longest_input_are_refused(method, tokens, longest, key):
    made = recipe(method, engine={"max_num_tokens": tokens})
    finding = only(tokens_take_the_longest_input, made)
    assert (finding.severity, finding.where) == ("blocking", "engine.max_num_tokens")
    assert f"max_num_tokens {tokens} is below {longest}" in finding.what
    assert f"limits.{key}" in finding.what
    assert "trtGptModel.h" in finding.why


@pytest.mark.parametrize("tokens", [None, 16384])
def test_as_many_tokens_as_the_builder_advises_pass(tokens):
    made = recipe(limits={"max_batch_size": 16}, engine={"max_num_tokens": tokens})
    assert not findings(tokens_are_few_enough, made)


def test_more_tokens_than_the_builder_advises_are_a_warning():
    limits = {"max_batch_size": 16}
    made = recipe(limits=limits, engine={"max_num_tokens": 16385})
    finding = only(tokens_are_few_enough, made)
    assert (finding.severity, finding.where) == ("warning", "engine.max_num_tokens")
    assert finding.what == "max_num_tokens 16385 is above 16384"
    assert finding.action == "set engine.max_num_tokens to 16384"


def test_limits_that_need_more_tokens_than_advised_are_a_warning():
    made = recipe(limits={"max_input_tokens": 20_000, "max_total_tokens": 30_000})
    finding = only(tokens_are_few_enough, made)
    assert "20000, which follows from the limits, is above 16384" in finding.what
    assert finding.action.startswith("lower the limits")


@pytest.mark.parametrize(("total", "told"), [(4033, True), (4036, True), (4032, False)])
def test_drafts_behind_the_context_are_noted(total, told):
    tree = [[0] * depth for depth in range(1, 5)]
    made = recipe(
        "medusa", tree=tree, max_draft_tokens=4, limits={"max_total_tokens": total}
    )
    short = variant(MODEL, context_length=4036)
    found = findings(draft_has_room, made, target=short)
    assert [f.severity for f in found] == ["note"] * told
    for finding in found:
        assert finding.snippet == "limits:\n  max_total_tokens: 4032"
    assert not findings(draft_has_room, made)

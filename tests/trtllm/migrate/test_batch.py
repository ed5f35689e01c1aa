"""Draft lengths by batch size mean the same in both readings, or are refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trtllm.migrate.configurations import (
    falling,
    lower,
    value_by_lower_bounds,
    value_of,
)
from tests.trtllm.migrate.moves import about, eagle3, move, spec_of

LARGEST = 64


@settings(max_examples=80, deadline=None)
@given(length=falling(LARGEST))
def test_main_to_1_2_keeps_the_length_of_every_batch(length):
    spec = eagle3("main", max_draft_len=max(length.values()))
    spec["draft_len_schedule"] = length
    result = spec_of(move(spec, "main", "1.2", max_batch_size=LARGEST))
    bounds = result.get("draft_len_schedule", {1: result["max_draft_len"]})
    for batch in range(1, LARGEST + 1):
        assert value_by_lower_bounds(bounds, batch) == value_of(length, batch)


@settings(max_examples=80, deadline=None)
@given(length=falling(LARGEST), limit=st.none() | st.integers(1, 2 * LARGEST))
def test_1_2_to_main_keeps_the_length_of_every_batch(length, limit):
    spec = eagle3("1.2", max_draft_len=max(length.values()), eagle3_one_model=False)
    spec["draft_len_schedule"] = lower(length, LARGEST)
    if limit is not None:
        spec["max_concurrency"] = limit
    result = spec_of(move(spec, "1.2", "main", max_batch_size=LARGEST))
    always = {LARGEST: result["max_draft_len"]}
    bounds = result.get("draft_len_schedule", always)
    assert "max_concurrency" not in result
    for batch in range(1, LARGEST + 1):
        allowed = limit is None or batch <= limit
        assert value_of(bounds, batch) == (value_of(length, batch) if allowed else 0)


def test_a_schedule_of_main_makes_1_2_run_two_models():
    spec = eagle3("main", draft_len_schedule={8: 4, 32: 2})
    result = spec_of(move(spec, "main", "1.2", max_batch_size=64))
    assert result["draft_len_schedule"] == {1: 4, 9: 2, 33: 0}
    assert result["eagle3_one_model"] is False
    assert "allow_advanced_sampling" not in result


def test_without_max_batch_size_the_default_is_assumed_and_told():
    spec = eagle3("1.2", eagle3_one_model=False, draft_len_schedule={1: 4, 9: 2})
    moved = move(spec, "1.2", "main")
    assert spec_of(moved)["draft_len_schedule"] == {8: 4, 2048: 2}
    (change,) = about(moved, "draft_len_schedule", "converted")
    assert "2048, the default" in change.reason


def test_a_zero_tail_on_main_is_warned_of_with_the_safe_form():
    spec = eagle3("1.2", eagle3_one_model=False, draft_len_schedule={1: 4, 9: 2, 33: 0})
    moved = move(spec, "1.2", "main", max_batch_size=64)
    (warning,) = about(moved, "draft_len_schedule", "warned")
    assert "{8: 4, 32: 2, 64: 1}" in warning.reason


def test_a_schedule_copied_from_1_2_is_recognised_on_main():
    spec = eagle3("main", draft_len_schedule={1: 4, 9: 2, 33: 0})
    moved = move(spec, "main", "main", max_batch_size=64)
    told = [change.reason for change in about(moved, "draft_len_schedule", "warned")]
    assert any(
        "single request only" in text and "{8: 4, 32: 2}" in text for text in told
    )


@pytest.mark.parametrize(
    ("given_schedule", "source", "what"),
    [
        ({4: 3, 16: 2}, "main", "must map to the draft length 4"),
        ({8: 4, 32: 2}, "1.2", "wants an entry for batch size 1"),
        ({8: 4, 16: 6}, "main", "no value may be above it"),
        ({0: 4, 8: 2}, "main", "the key 0 is no batch size: they begin at 1"),
        ({8: 4, 16: -1}, "main", "16: -1 is below 0, which drafts nothing"),
        ({8: "four"}, "main", "8: 'four' is no draft length"),
        ({8: True}, "main", "8: True is no draft length"),
        ([4, 2], "main", "a map of batch size"),
        ({8: 4, "many": 2}, "main", "the key 'many' is no batch size"),
    ],
)
def test_a_schedule_that_no_release_takes_is_blocked(given_schedule, source, what):
    spec = eagle3(source, draft_len_schedule=given_schedule)
    moved = move(spec, source, "main", max_batch_size=64)
    (change,) = about(moved, "draft_len_schedule", "blocked")
    assert what in change.reason


def test_schedule_and_limit_are_refused_in_one_pass_on_main():
    spec = eagle3("main", draft_len_schedule={4: 3, 16: 2, 48: 0}, max_concurrency=32)
    moved = move(spec, "main", "main")
    assert about(moved, "draft_len_schedule", "blocked")
    assert about(moved, "max_concurrency", "blocked")


def test_one_step_and_a_zero_is_a_limit_where_there_is_no_schedule():
    spec = eagle3("main", draft_len_schedule={8: 4})
    result = spec_of(move(spec, "main", "1.1", max_batch_size=64))
    assert result["max_concurrency"] == 8
    assert result["eagle3_one_model"] is False


def test_several_steps_are_blocked_on_1_1_with_what_it_can_do():
    spec = eagle3("main", draft_len_schedule={8: 4, 32: 2})
    moved = move(spec, "main", "1.1", max_batch_size=64)
    (change,) = about(moved, "draft_len_schedule", "blocked")
    assert "max_draft_len 4 alone, or with max_concurrency 8" in change.reason


def test_a_schedule_that_never_changes_is_left_out_for_1_0():
    spec = eagle3("main", draft_len_schedule={64: 4})
    assert "draft_len_schedule" not in spec_of(
        move(spec, "main", "1.0", max_batch_size=64)
    )


@pytest.mark.parametrize("target", ["1.0", "1.1", "1.2"])
def test_what_a_one_model_engine_ignored_is_left_out(target):
    spec = eagle3("1.2", draft_len_schedule={1: 4, 9: 2}, max_concurrency=16)
    result = spec_of(move(spec, "1.2", target, max_batch_size=64))
    assert "draft_len_schedule" not in result
    assert "max_concurrency" not in result


def test_what_a_one_model_engine_ignored_begins_to_act_on_main():
    spec = eagle3("1.1", max_concurrency=16)
    moved = move(spec, "1.1", "main", max_batch_size=64)
    told = [change.reason for change in about(moved, "max_concurrency", "warned")]
    assert any("begins to act" in text for text in told)


def test_a_limit_beyond_reach_is_no_limit_for_1_0():
    spec = eagle3("1.1", eagle3_one_model=False, max_concurrency=64)
    assert "max_concurrency" not in spec_of(move(spec, "1.1", "1.0", max_batch_size=64))


def test_mtp_cannot_pause_up_to_1_2():
    spec = {"decoding_type": "MTP", "max_draft_len": 3, "max_concurrency": 8}
    moved = move(spec, "main", "1.2", max_batch_size=64)
    (change,) = about(moved, "max_concurrency", "blocked")
    assert "lower max_batch_size" in change.reason


def test_a_schedule_of_one_length_is_no_schedule():
    spec = eagle3("1.2", eagle3_one_model=False, draft_len_schedule={1: 4})
    moved = move(spec, "1.2", "main", max_batch_size=64)
    assert "draft_len_schedule" not in spec_of(moved)
    (change,) = about(moved, "draft_len_schedule", "removed")
    assert "the same as no schedule" in change.reason


def test_null_is_no_schedule():
    spec = eagle3("main", draft_len_schedule=None, max_concurrency=None)
    assert not move(spec, "main", "main").is_blocked

"""The acceptance gate's unit is converted, and what cannot be is left to the reader."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trtllm.migrate.moves import about, eagle3, move, spec_of

TOKENS = {"acceptance_window": 100, "acceptance_length_threshold": 1.5}
RATE = {"acceptance_rate_window_size": 100, "acceptance_rate_threshold": 0.375}


def test_accepted_tokens_per_step_become_a_rate():
    moved = move(eagle3("1.2", eagle3_one_model=False, **TOKENS), "1.2", "main")
    result = spec_of(moved)
    assert result["acceptance_rate_threshold"] == 0.375
    assert result["acceptance_rate_window_size"] == 100
    assert not result.keys() & TOKENS.keys()
    (change,) = about(moved, "acceptance_length_threshold", "converted")
    assert "1.5 / draft length 4" in change.reason


def test_a_rate_becomes_accepted_tokens_per_step_of_two_models():
    result = spec_of(move(eagle3("main", **RATE), "main", "1.2"))
    assert result["acceptance_length_threshold"] == 1.5
    assert result["eagle3_one_model"] is False


def test_the_window_counts_something_else_and_the_reader_is_told():
    moved = move(eagle3("main", **RATE), "main", "1.2")
    (change,) = about(moved, "acceptance_rate_window_size", "warned")
    assert "counts finished requests, where it counted iterations" in change.reason


@settings(max_examples=40, deadline=None)
@given(hundredths=st.integers(1, 100), length=st.integers(1, 16))
def test_there_and_back_is_the_same_number(hundredths, length):
    threshold = round(hundredths * length / 100, 2)
    gate = {**TOKENS, "acceptance_length_threshold": threshold}
    spec = eagle3("1.2", eagle3_one_model=False, **gate)
    spec["max_draft_len"] = length
    there = spec_of(move(spec, "1.2", "main"))
    rate = there["acceptance_rate_threshold"]
    assert rate == pytest.approx(threshold / length, abs=1e-6)
    back = spec_of(move(there, "main", "1.2"))
    assert back["acceptance_length_threshold"] == threshold


def test_under_a_schedule_the_reader_decides_and_sees_the_figures():
    spec = eagle3(
        "1.2", eagle3_one_model=False, draft_len_schedule={1: 4, 9: 2}, **TOKENS
    )
    moved = move(spec, "1.2", "main", max_batch_size=64)
    (change,) = about(moved, "acceptance_length_threshold", "blocked")
    assert "0.75 at 2, 0.375 at 4" in change.reason


def test_a_threshold_above_the_draft_length_has_no_rate():
    gate = {**TOKENS, "acceptance_length_threshold": 5}
    moved = move(eagle3("1.2", eagle3_one_model=False, **gate), "1.2", "main")
    (change,) = about(moved, "acceptance_length_threshold", "blocked")
    assert "at most 1" in change.reason


@pytest.mark.parametrize("target", ["1.0", "1.1", "1.3.0rc22"])
def test_a_release_without_a_gate_blocks(target):
    moved = move(eagle3("main", **RATE), "main", target)
    assert about(moved, "acceptance_rate_threshold", "blocked")


def test_half_a_gate_has_no_effect_and_goes():
    spec = eagle3("1.2", eagle3_one_model=False, acceptance_window=5)
    moved = move(spec, "1.2", "main")
    assert not spec_of(moved).keys() & {*TOKENS, *RATE}
    (change,) = about(moved, "acceptance_window")
    assert "no effect without acceptance_length_threshold" in change.reason


def test_a_gate_in_a_one_model_engine_of_1_2_begins_to_act_on_main():
    moved = move(eagle3("1.2", **TOKENS), "1.2", "main")
    told = about(moved, "acceptance_length_threshold", "warned")
    assert any("begins to act" in change.reason for change in told)
    assert not spec_of(move(eagle3("1.2", **TOKENS), "1.2", "1.2")).keys() & {*TOKENS}


def test_prompt_lookup_has_no_gate_on_main():
    spec = {
        "decoding_type": "NGram",
        "max_draft_len": 4,
        "max_matching_ngram_size": 2,
        **TOKENS,
    }
    assert about(move(spec, "1.2", "main"), "acceptance_length_threshold", "blocked")


@pytest.mark.parametrize("threshold", [1, 0.1, 2.5e-07, 1 / 3])
def test_no_digit_of_a_threshold_is_lost(threshold):
    gate = {**TOKENS, "acceptance_length_threshold": threshold}
    spec = eagle3("1.2", eagle3_one_model=False, max_draft_len=3, **gate)
    there = spec_of(move(spec, "1.2", "main"))
    assert there["acceptance_rate_threshold"] == pytest.approx(threshold / 3, rel=1e-15)
    back = spec_of(move(there, "main", "1.2"))
    assert back["acceptance_length_threshold"] == threshold


def test_the_reader_is_told_that_1_2_reads_short_outputs_lower():
    moved = move(eagle3("1.2", eagle3_one_model=False, **TOKENS), "1.2", "main")
    (change,) = about(moved, "acceptance_length_threshold", "converted")
    assert "short outputs read lower" in change.reason


def test_the_gate_of_prompt_lookup_stays_on_1_2_and_is_comparable_to_nothing():
    spec = {"decoding_type": "NGram", "max_draft_len": 4, "max_matching_ngram_size": 2}
    ours = {**spec, **TOKENS}
    assert spec_of(move(ours, "1.2", "1.2")) == ours
    assert about(move(ours, "1.2", "main"), "acceptance_window", "blocked")
    (change,) = about(
        move({**spec, **RATE}, "main", "1.2"), "acceptance_rate_threshold"
    )
    assert change.kind == "blocked"
    assert "no rate x draft length" in change.reason


def test_a_gate_that_main_ignores_is_left_out():
    spec = {"decoding_type": "NGram", "max_draft_len": 4, "max_matching_ngram_size": 2}
    moved = move({**spec, **RATE}, "main", "main")
    assert spec_of(moved) == spec
    (change,) = about(moved, "acceptance_rate_threshold", "removed")
    assert "drafters inside the target's engine only" in change.reason


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "much", True])
def test_what_is_no_number_is_blocked(value):
    gate = {**TOKENS, "acceptance_length_threshold": value}
    moved = move(eagle3("1.2", eagle3_one_model=False, **gate), "1.2", "main")
    assert about(moved, "acceptance_length_threshold", "blocked")

"""The acceptance gate, in each release's unit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trtllm.pytorch.compile.recipes import (
    AUTO,
    DRAFT_TARGET,
    EAGLE3,
    MTP,
    NEWEST,
    NGRAM,
    NONE,
    PARD,
    SUFFIX,
    USER,
    compiled,
    config,
    refusal,
    the_remark,
)
from trtspec.trtllm.pytorch.compile.gate import acceptance_rate, accepted_per_step

GATE = {"pytorch": {"acceptance_gate": {"window": 50, "min_acceptance_rate": 0.4}}}
RULE = "acceptance-gate"


@given(digits=st.integers(1, 999_999), length=st.integers(1, 256))
def test_written_decimals_convert_both_ways_without_loss(digits, length):
    written = digits / 1_000_000
    assert acceptance_rate(accepted_per_step(written, length), length) == written
    assert accepted_per_step(acceptance_rate(written, length), length) == written


@pytest.mark.parametrize(
    ("rate", "length", "tokens"), [(0.7, 3, 2.1), (0.4, 4, 1.6), (1.0, 3, 3.0)]
)
def test_units_come_in_the_shortest_decimals_that_are_exact(rate, length, tokens):
    assert accepted_per_step(rate, length) == tokens
    assert acceptance_rate(tokens, length) == rate


def test_a_rate_without_a_short_decimal_keeps_all_its_digits():
    assert acceptance_rate(1.0, 3) == 1 / 3
    assert accepted_per_step(1 / 3, 3) == 1.0


@pytest.mark.parametrize(
    "speculation", [{**DRAFT_TARGET}, {**EAGLE3, "two_model": True}]
)
def test_1_2_counts_accepted_tokens_per_step(speculation):
    written = config("1.2.1", {**speculation, "draft_length": 4}, **GATE)
    assert written["acceptance_window"] == 50
    assert written["acceptance_length_threshold"] == pytest.approx(1.6)
    assert "acceptance_rate_threshold" not in written


@pytest.mark.parametrize("speculation", [EAGLE3, MTP, PARD, DRAFT_TARGET, SUFFIX])
def test_the_newest_releases_count_the_rate(speculation):
    written = config(NEWEST, speculation, **GATE)
    assert written["acceptance_rate_window_size"] == 50
    assert written["acceptance_rate_threshold"] == 0.4
    assert "acceptance_window" not in written


@pytest.mark.parametrize(
    ("version", "counted"), [("1.2.1", "finished requests"), (NEWEST, "iterations")]
)
def test_a_gate_warns_that_it_is_for_good_and_what_it_counts(version, counted):
    remark = the_remark(compiled(version, DRAFT_TARGET, **GATE), RULE)
    assert remark.severity == "warning"
    assert "restarted" in remark.what
    assert counted in remark.why


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0"])
def test_early_releases_have_no_gate(version):
    assert "1.2" in refusal(version, EAGLE3, **GATE).why


def test_the_candidate_between_the_two_spellings_has_no_known_gate():
    remark = refusal("1.3.0rc22", EAGLE3, **GATE)
    assert "not established" in remark.what
    assert "1.3.0rc23" in remark.action
    assert config("1.3.0rc23", EAGLE3, **GATE)["acceptance_rate_threshold"] == 0.4


def test_1_2_refuses_a_gate_for_ngram_whose_steps_draft_nothing_too():
    remark = refusal("1.2.1", NGRAM, **GATE)
    assert remark.rule == RULE
    assert "nothing or little" in remark.why


def test_1_2_tells_that_short_outputs_read_lower():
    assert "s/(s+1)" in the_remark(compiled("1.2.1", DRAFT_TARGET, **GATE), RULE).why
    assert "s/(s+1)" not in the_remark(compiled(NEWEST, DRAFT_TARGET, **GATE), RULE).why


def test_1_2_refuses_a_gate_for_one_model_engines():
    assert "two_model: true" in refusal("1.2.1", EAGLE3, **GATE).action
    assert "two_model" not in refusal("1.2.1", MTP, **GATE).action


@pytest.mark.parametrize("lengths", [{8: 4, 32: 2}, {8: 4}])
def test_1_2_refuses_a_gate_under_a_map(lengths):
    asked = {**DRAFT_TARGET, "draft_length": lengths}
    assert "one number" in refusal("1.2.1", asked, **GATE).action


@pytest.mark.parametrize("speculation", [NGRAM, AUTO, USER])
def test_the_newest_releases_watch_drafters_inside_the_engine_alone(speculation):
    assert refusal(NEWEST, speculation, **GATE).rule == RULE


@pytest.mark.parametrize("version", ["1.0.0", "1.2.1", NEWEST])
def test_the_off_arm_may_keep_the_gate_s_section(version):
    made = compiled(version, NONE, **GATE)
    assert the_remark(made, RULE).severity == "note"
    assert made.args == compiled(version, NONE).args

"""Limits hold the workload where the model's context allows it, and say so if not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtspec.advise.lengths import OUTPUT, TEMPLATE, lengths
from trtspec.advise.workload import WorkloadFacts
from trtspec.recipe.schema import Limits


def workload(prompt=300, answer=None):
    return WorkloadFacts(Path("w.jsonl"), 3, prompt, answer, True, 0, None)


@pytest.mark.parametrize(
    ("prompt", "answer", "expected"),
    [
        (1, None, (256, 512)),
        (128, None, (256, 512)),  # 128 and 128 for the template fill a step
        (129, None, (512, 768)),
        (2000, 300, (2304, 2816)),
        (2000, 256, (2304, 2560)),
    ],
)
def test_limits_are_the_longest_prompt_and_answer_rounded_up(prompt, answer, expected):
    found = lengths(workload(prompt, answer), 131072, 4)
    assert (found.max_input, found.max_total) == expected
    assert found.cut == ""
    assert str(TEMPLATE) in found.input_told
    assert "131072" in found.total_told


def test_without_a_workload_the_input_is_called_a_guess():
    found = lengths(None, None, 4)
    assert "guess" in found.input_told
    assert found.max_total == found.max_input + OUTPUT


def test_drafts_get_room_within_the_context():
    found = lengths(workload(1800), 2048, 68)
    assert found.max_total == 2048 - 68
    assert found.max_input + found.output == found.max_total
    assert "68" in found.total_told


def test_a_guess_stays_within_the_drafter_s_context():
    found = lengths(None, 131072, 4, drafter=2048)
    assert found.max_total == 2044
    assert "the drafter's 2048, less 4 for drafts" in found.total_told


def test_a_drafter_bounds_neither_a_workload_nor_a_shorter_model():
    assert lengths(workload(9000), 131072, 4, drafter=2048).cut == ""
    found = lengths(None, 2048, 4, drafter=4096)
    assert "the model's 2048" in found.total_told


def test_a_prompt_that_does_not_fit_is_told_with_both_numbers():
    found = lengths(workload(9000), 8192, 4)
    assert found.max_total == 8188
    assert "9000" in found.cut
    assert "8192" in found.cut


@given(
    st.none()
    | st.builds(workload, st.integers(1, 10**8), st.none() | st.integers(0, 10**8)),
    st.none() | st.integers(2, 10**6),
    st.integers(1, 500),
)
def test_limits_always_leave_room_for_output_within_the_context(given_, context, room):
    found = lengths(given_, context, room)
    assert 1 <= found.max_input < found.max_total
    assert found.output >= 1
    Limits(max_input_tokens=found.max_input, max_total_tokens=found.max_total)
    if context is not None and context - room >= 2:
        assert found.max_total <= context - room

"""How much fits into an engine."""

from __future__ import annotations

import pytest

from tests.trtllm.engine.run.artifacts import engine
from trtspec.trtllm.engine.run.room import draft_room, longest_input


@pytest.mark.parametrize(
    ("changes", "longest"),
    [
        ({}, 60),
        ({"max_num_tokens": 50}, 50),
        ({"max_input_len": 40}, 40),
        ({"max_seq_len": 30}, 29),
    ],
)
def test_the_smallest_limit_counts(changes, longest):
    assert longest_input(engine("ngram", **changes)) == longest


@pytest.mark.parametrize(
    ("tokens", "room"), [(10, 6), (54, 5), (59, 1), (60, 0), (65, 0)]
)
def test_a_draft_fits_behind_the_input_and_into_the_sequence(tokens, room):
    assert draft_room(engine("ngram"), tokens) == room


def test_a_draft_ends_with_the_input():
    assert draft_room(engine("ngram", max_num_tokens=50), 48) == 2

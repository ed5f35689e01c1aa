"""A schedule takes the best length, and does not flip for noise."""

from __future__ import annotations

from itertools import pairwise, product
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtspec.methods.draft_length import draft_length_at
from trtspec.tune.choose import TIE, as_draft_length, best_of, schedule
from trtspec.tune.steady import Point


def points(batch: int, rates, *, apart: float = 0.0) -> tuple[Point, ...]:
    """Points with these throughputs; ``apart`` makes prompts differ in them."""
    shares = np.array([0.5, 0.5])
    return tuple(
        Point(
            length=k,
            batch=batch,
            tokens=rate / batch,
            seconds=1.0,
            times=shares + np.array([apart, -apart]) * k,
            error=0.0,
        )
        for k, rate in enumerate(rates)
    )


def test_each_batch_gets_its_best():
    surface = {
        1: points(1, [10, 12, 14, 16]),
        4: points(4, [30, 36, 34, 30]),
        8: points(8, [50, 40, 30, 20]),
    }
    assert schedule(surface) == {1: 3, 4: 1, 8: 0}


def test_a_length_never_rises_with_the_batch():
    surface = {1: points(1, [10, 12, 8]), 4: points(4, [30, 31, 36])}
    chosen = schedule(surface)
    assert chosen[1] >= chosen[4]
    assert chosen == {1: 1, 4: 1}


def test_a_flip_has_to_gain_more_than_a_tie():
    surface = {1: points(1, [10, 12.00, 12.05]), 4: points(4, [30, 36.1, 36.0])}
    assert len(set(schedule(surface).values())) == 1


def test_a_shorter_draft_wins_what_nobody_can_tell():
    near = [10, 12.0, 12.0 * (1 + TIE / 2)]
    assert schedule({1: points(1, near, apart=0.2)}) == {1: 1}
    assert schedule({1: points(1, near)}) == {1: 2}
    clear = [10, 12.0, 12.0 * (1 + 3 * TIE)]
    assert schedule({1: points(1, clear, apart=0.2)}) == {1: 2}


def test_nothing_is_drafted_where_nothing_gains():
    surface = {b: points(b, [10, 9, 8]) for b in (1, 4)}
    assert schedule(surface) == {1: 0, 4: 0}
    assert best_of(surface[1]).length == 0


def test_drafting_has_to_gain_something():
    surface = {1: points(1, [10, 12]), 4: points(4, [30, 30 * (1 + TIE / 2)])}
    assert schedule(surface) == {1: 1, 4: 0}
    assert schedule({1: points(1, [10, 10 * (1 + TIE / 2)])}) == {1: 0}
    assert schedule({1: points(1, [10, 10 * (1 + 2 * TIE)])}) == {1: 1}


rates = st.lists(st.floats(1.0, 100.0), min_size=4, max_size=4)


@given(st.lists(rates, min_size=1, max_size=4))
def test_no_other_schedule_loses_less(rows):
    surface = {2**n: points(2**n, row) for n, row in enumerate(rows)}

    def lost_at(row, k):
        if max(row) < row[0] * (1 + TIE):  # nothing is gained by drafting
            return max(TIE, log(row[0] / row[k])) if k else 0.0
        return max(0.0, log(max(row) / row[k]))

    def loss(lengths):
        lost = sum(lost_at(row, k) for row, k in zip(rows, lengths, strict=True))
        return lost + TIE * sum(a != b > 0 for a, b in pairwise(lengths))

    every = product(range(4), repeat=len(rows))
    allowed = [c for c in every if list(c) == sorted(c, reverse=True)]
    chosen = tuple(schedule(surface).values())
    assert chosen in allowed
    assert loss(chosen) == pytest.approx(min(map(loss, allowed)))


@pytest.mark.parametrize(
    ("chosen", "written"),
    [
        ({1: 4, 4: 4, 8: 4}, 4),
        ({1: 4, 4: 2, 8: 0}, {1: 4, 4: 2}),
        ({1: 4, 4: 4, 8: 0}, {4: 4}),
        ({1: 0, 4: 0}, None),
        ({1: 3}, {1: 3}),
        ({1: 6, 4: 2, 8: 2}, {1: 6, 8: 2}),
    ],
)
def test_a_schedule_as_a_recipe_says_it(chosen, written):
    assert as_draft_length(chosen, 8) == written


@given(
    st.lists(st.integers(0, 5), min_size=3, max_size=3).map(
        lambda x: sorted(x, reverse=True)
    )
)
def test_a_recipe_gives_every_batch_its_length(lengths):
    chosen = dict(zip((1, 4, 8), lengths, strict=True))
    written = as_draft_length(chosen, 8)
    for batch, length in chosen.items():
        assert (draft_length_at(written, batch) if written else 0) == length

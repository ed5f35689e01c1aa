"""What reading prompts takes is told from a few reads, one of which may be slow."""

from __future__ import annotations

import pytest

from trtspec.tune.reference import reading_line


def reads(start=0.5, slope=0.25, sizes=(10, 40, 80, 20, 80, 160)):
    return [(tokens, start + slope * tokens) for tokens in sizes]


def test_start_and_slope_are_found():
    assert reading_line(reads()) == pytest.approx((0.5, 0.25))


def test_a_slow_first_read_moves_nothing():
    first, *others = reads()
    slow = (first[0], first[1] + 100)
    assert reading_line([slow, *others]) == pytest.approx((0.5, 0.25), rel=0.2)


@pytest.mark.parametrize(
    "few", [reads(sizes=(10,)), reads(sizes=(10, 10, 10)), reads(sizes=(10, 20))]
)
def test_of_two_sizes_all_is_taken_to_be_in_proportion(few):
    start, slope = reading_line(few)
    assert start == 0
    assert slope == pytest.approx(sum(s for _, s in few) / sum(t for t, _ in few))


@pytest.mark.parametrize("odd", [{"start": -1.0}, {"slope": -0.001, "start": 9.0}])
def test_a_line_that_cannot_be_is_not_taken(odd):
    assert reading_line(reads(**odd))[0] == 0

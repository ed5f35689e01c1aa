"""Shares, their intervals, and whether one is above another."""

import pytest

from trtspec.verify.greedy.shares import chance_of_excess, share


def test_wilson_interval_of_a_textbook_case():
    # E. B. Wilson's interval for 10 of 20 at 95 %: 0.299 to 0.701
    found = share(10, 20)
    assert (found.low, found.high) == pytest.approx((0.299, 0.701), abs=1e-3)
    assert found.words == "10 of 20 (50%, 30% to 70%)"


def test_no_event_still_leaves_room():
    found = share(0, 16)
    assert found.low == 0.0
    assert 0.15 < found.high < 0.25


def test_every_event_leaves_room_below():
    assert share(16, 16).high == 1.0


def test_the_same_share_is_no_excess():
    flags = [True] * 5 + [False] * 11
    assert chance_of_excess(flags, flags) == 1.0
    assert chance_of_excess([False] * 16, [False] * 16) == 1.0


def test_only_prompts_that_differ_count():
    here = [True] * 8 + [False] * 8
    there = [False] * 16
    assert chance_of_excess(here, there) == pytest.approx(0.5**8)
    # eight more prompts that part in both say nothing
    assert chance_of_excess(here + [True] * 8, there + [True] * 8) == pytest.approx(
        0.5**8
    )


def test_fewer_is_no_excess():
    assert chance_of_excess([False] * 8, [True] * 8) == 1.0

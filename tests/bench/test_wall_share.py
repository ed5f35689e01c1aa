"""A block's wall time, split among its requests."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trtspec.bench.wall_share import wall_shares

Times = st.lists(st.tuples(st.floats(0, 50), st.floats(0, 20)), min_size=1, max_size=20)


def shares(submitted, e2e, wall):
    found = wall_shares(np.array(submitted), np.array(e2e), wall)
    return pytest.approx(found.tolist())


def test_one_in_flight_accounts_for_its_own_latency():
    assert shares([0.0, 2.0, 5.0], [2.0, 3.0, 1.0], 6.0) == [2.0, 3.0, 1.0]


def test_two_in_flight_split_the_time_they_share():
    # 0-2 both, 2-6 the second alone
    assert shares([0.0, 0.0], [2.0, 6.0], 6.0) == [1.0, 5.0]


def test_three_that_overlap_in_part():
    # 0-1: a. 1-2: a b. 2-3: a b c. 3-4: b c. 4-6: c
    expected = [1 + 1 / 2 + 1 / 3, 1 / 2 + 1 / 3 + 1 / 2, 1 / 3 + 1 / 2 + 2]
    assert shares([0.0, 1.0, 2.0], [3.0, 3.0, 4.0], 6.0) == expected


def test_idle_moments_are_spread_over_all():
    assert shares([0.0, 3.0], [2.0, 2.0], 6.0) == [3.0, 3.0]


def test_requests_without_duration_share_equally():
    assert shares([0.0, 0.0], [0.0, 0.0], 3.0) == [1.5, 1.5]


def by_moments(submitted, e2e, wall):
    """The definition, moment by moment."""
    ends = submitted + e2e
    edges = np.unique([*submitted, *ends])
    seconds = np.zeros(len(e2e))
    for left, right in pairwise(edges):
        present = (submitted <= left) & (ends >= right)
        if present.any():
            seconds[present] += (right - left) / present.sum()
    return seconds * wall / seconds.sum()


@settings(deadline=None)
@given(Times)
def test_it_is_what_the_definition_says(times):
    submitted, e2e = map(np.array, zip(*times, strict=True))
    wall = max(s + e for s, e in times) or 1.0
    if e2e.max() > 1e-3:
        found = wall_shares(submitted, e2e, wall)
        assert found == pytest.approx(by_moments(submitted, e2e, wall), abs=1e-6)


@settings(deadline=None)
@given(Times)
def test_the_shares_add_up_to_the_wall_time(times):
    submitted, e2e = zip(*times, strict=True)
    wall = max(s + e for s, e in times) or 1.0
    parts = wall_shares(np.array(submitted), np.array(e2e), wall)
    assert parts.sum() == pytest.approx(wall)
    assert parts.min() >= 0


def test_many_requests_take_little_memory():
    submitted = np.arange(50_000, dtype=float)
    parts = wall_shares(submitted, np.full(50_000, 40.0), 50_039.0)
    assert parts.sum() == pytest.approx(50_039.0)
    assert parts[25_000] == pytest.approx(1.0)

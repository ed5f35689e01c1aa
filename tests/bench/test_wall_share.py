"""A block's wall time, split among its requests."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtspec.bench.wall_share import wall_shares


def shares(submitted, e2e, wall):
    return wall_shares(np.array(submitted), np.array(e2e), wall).tolist()


def test_one_in_flight_accounts_for_its_own_latency():
    assert shares([0.0, 2.0, 5.0], [2.0, 3.0, 1.0], 6.0) == [2.0, 3.0, 1.0]


def test_two_in_flight_split_the_time_they_share():
    # 0-2 both, 2-6 the second alone
    assert shares([0.0, 0.0], [2.0, 6.0], 6.0) == [1.0, 5.0]


def test_idle_moments_are_spread_over_all():
    assert shares([0.0, 3.0], [2.0, 2.0], 6.0) == [3.0, 3.0]


def test_requests_without_duration_share_equally():
    assert shares([0.0, 0.0], [0.0, 0.0], 3.0) == [1.5, 1.5]


@given(
    st.lists(st.tuples(st.floats(0, 50), st.floats(0.01, 20)), min_size=1, max_size=20)
)
def test_the_shares_add_up_to_the_wall_time(times):
    submitted, e2e = zip(*times, strict=True)
    wall = max(s + e for s, e in times)
    parts = shares(submitted, e2e, wall)
    assert sum(parts) == pytest.approx(wall)
    assert min(parts) >= 0

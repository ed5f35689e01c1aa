import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtspec.verify.distribution.gtest import g_statistic
from trtspec.verify.distribution.power import (
    Null,
    as_shift,
    effective,
    non_centrality,
    smallest_shift,
)


@given(st.lists(st.tuples(*[st.floats(0.01, 1)] * 3), min_size=2, max_size=12))
def test_no_shift_adds_less_than_its_bound(rows):
    p, q, m = (np.array(one) / sum(one) for one in zip(*rows, strict=True))
    shift = np.abs(p - q).sum() / 2
    assert ((p - q) ** 2 / m).sum() >= 4 * shift**2 - 1e-12


def test_the_bound_is_reached_by_moving_mass_between_halves():
    p, q = np.array([0.55, 0.45]), np.array([0.45, 0.55])
    assert ((p - q) ** 2 / np.array([0.5, 0.5])).sum() == pytest.approx(4 * 0.1**2)


def test_a_chi_square_is_its_own_null():
    null = Null(mean=30.0, variance=60.0)
    assert (null.scale, null.degrees) == (1.0, 30.0)
    assert null.critical(0.05) == pytest.approx(43.77, abs=0.01)  # any table of it
    assert null.power(0.0, 0.05) == pytest.approx(0.05)


def test_power_rises_with_the_shift_and_the_size():
    null = Null(200.0, 600.0)
    powers = [null.power(added, 0.03) for added in (0, 50, 100, 200)]
    assert powers == sorted(powers)
    assert powers[-1] > 0.99
    least = [smallest_shift(null, size, 24, 0.03, 0.95) for size in (50, 100, 400)]
    assert least == sorted(least, reverse=True)
    assert least[0] / least[2] == pytest.approx(8**0.5, rel=0.01)


def test_no_shift_can_be_found_where_there_is_nothing_to_see():
    assert smallest_shift(Null(0.0, 0.0), 100, 4, 0.03, 0.95) is None
    assert smallest_shift(Null(400.0, 800.0), 2, 4, 0.03, 0.95) is None


def test_a_surplus_is_turned_back_into_the_shift_that_it_stands_for():
    added = non_centrality(0.2, 80.0, 24)
    assert as_shift(added, 80.0, 24) == pytest.approx(0.2)
    assert as_shift(-5.0, 80.0, 24) == 0.0
    assert as_shift(1e9, 80.0, 24) == 1.0


def test_effective_size_of_equal_samples_is_half_of_one():
    assert effective(100, 100) == 50
    assert effective(100, 10**9) == pytest.approx(100)


def test_the_stated_power_is_the_share_of_tables_that_are_found():
    """Independent tables with the least visible shift of all: half against half."""
    rng = np.random.default_rng(2)
    cells, tables, n, m = 8, 20, 100, 200
    null = Null(tables * (cells - 1.0), 2 * tables * (cells - 1.0))
    shift = smallest_shift(null, effective(n, m), tables, 0.03, 0.8)
    p = np.full(cells, 1 / cells)
    q = p + np.repeat([1, -1], cells // 2) * shift * 2 / cells
    found = []
    for _ in range(600):
        first = rng.multinomial(n, q, size=tables)
        total = first + rng.multinomial(m, p, size=tables)
        g = sum(float(g_statistic(a, t)) for a, t in zip(first, total, strict=True))
        found.append(g > null.critical(0.03))
    assert np.mean(found) == pytest.approx(0.8, abs=0.06)

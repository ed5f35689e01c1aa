import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from trtspec.verify.distribution.gtest import g_statistic, x_log_x


def test_a_table_by_hand():
    """Sokal and Rohlf's formula: 2 * sum O ln(O / E), E = 10 in every cell."""
    expected = 2 * 2 * (15 * np.log(1.5) + 5 * np.log(0.5))
    found = g_statistic(np.array([15, 5]), np.array([20, 20]))
    assert found == pytest.approx(expected)


counts = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=2).filter(
    lambda rows: all(map(sum, rows)) and all(map(sum, zip(*rows, strict=True)))
)


@given(counts)
def test_it_is_scipys_likelihood_ratio(rows):
    table = np.array(rows).T
    wanted = chi2_contingency(table, correction=False, lambda_="log-likelihood")
    found = g_statistic(table[0], table.sum(0))
    assert found == pytest.approx(wanted.statistic, abs=1e-8)


def test_equal_shares_give_nothing():
    assert g_statistic(np.array([10, 30]), np.array([30, 90])) == pytest.approx(0)


def test_many_tables_at_once_are_each_their_own():
    total = np.array([20, 20, 5])
    first = np.array([[15, 5, 2], [10, 10, 3], [20, 0, 0]])
    table = x_log_x(45)
    together = g_statistic(first, total, table)
    assert together.tolist() == [float(g_statistic(one, total)) for one in first]


def test_one_cell_is_no_table():
    assert g_statistic(np.array([7]), np.array([20])) == 0


def test_x_log_x_starts_at_0():
    assert x_log_x(3).tolist() == pytest.approx([0, 0, 2 * np.log(2), 3 * np.log(3)])

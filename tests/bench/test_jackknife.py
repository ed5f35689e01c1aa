"""Statistics per block, and what they are without one prompt each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats.mstats import hdquantiles

from trtspec.bench.jackknife import quantiles_of, rate_of


def harrell_davis(table, rank):
    """SciPy's, row by row."""
    return [np.asarray(hdquantiles(row, [rank]))[0] for row in table]


def without_each(table):
    """The table without its first column, without its second, ..."""
    return [np.delete(table, i, axis=1) for i in range(table.shape[1])]


@settings(max_examples=40, deadline=None)
@given(
    values=st.lists(
        st.lists(st.sampled_from([1.0, 2.0, 2.5, 9.0]), min_size=5, max_size=5),
        min_size=1,
        max_size=3,
    ),
    rank=st.sampled_from([0.25, 0.5, 0.95, 0.99]),
)
def test_quantiles_are_those_of_harrell_and_davis(values, rank):
    table = np.array(values)
    (found,) = quantiles_of(table, [rank])
    assert np.exp(found.blocks) == pytest.approx(harrell_davis(table, rank))
    expected = [harrell_davis(rest, rank) for rest in without_each(table)]
    assert np.exp(found.without.T) == pytest.approx(np.array(expected))


def test_the_median_of_two_is_between_them_and_one_is_itself():
    (found,) = quantiles_of(np.array([[1.0, 3.0]]), [0.5])
    assert np.exp(found.blocks) == pytest.approx([2.0])
    assert np.exp(found.without) == pytest.approx(np.array([[3.0, 1.0]]))


def test_several_ranks_are_taken_at_once():
    table = np.random.default_rng(1).uniform(1, 2, (3, 30))
    together = quantiles_of(table, [0.5, 0.95])
    for rank, found in zip((0.5, 0.95), together, strict=True):
        (alone,) = quantiles_of(table, [rank])
        assert (alone.without == found.without).all()


def test_a_quantile_of_many_is_the_plain_one():
    table = np.random.default_rng(2).uniform(1, 2, (2, 5000))
    for rank, found in zip((0.5, 0.95), quantiles_of(table, [0.5, 0.95]), strict=True):
        assert np.exp(found.blocks) == pytest.approx(
            np.quantile(table, rank, axis=1), abs=0.002
        )


def test_rates_are_sums_over_sums():
    amounts, seconds = np.random.default_rng(3).uniform(1, 2, (2, 4, 9))
    found = rate_of(amounts, seconds)
    plain = amounts.sum(axis=1) / seconds.sum(axis=1)
    assert np.exp(found.blocks) == pytest.approx(plain)
    for i in range(9):
        rest = [np.delete(part, i, axis=1).sum(axis=1) for part in (amounts, seconds)]
        assert np.exp(found.without[:, i]) == pytest.approx(rest[0] / rest[1])


def test_the_jackknife_of_a_mean_is_the_textbooks_variance():
    values = np.random.default_rng(4).uniform(1, 2, (1, 20))
    found = np.exp(rate_of(values, np.ones((1, 20))).without[0])
    variance = 19 / 20 * ((found - found.mean()) ** 2).sum()
    assert variance == pytest.approx(values.var(ddof=1) / 20)


def test_one_prompt_leaves_nothing():
    found = rate_of(np.ones((2, 1)), np.ones((2, 1)))
    assert not np.isfinite(found.without).any()
    (median,) = quantiles_of(np.ones((2, 1)), [0.5])
    assert median.blocks == pytest.approx([0.0, 0.0])
    assert not np.isfinite(median.without).any()

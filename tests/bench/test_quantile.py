"""Percentiles and their intervals: known values, clusters, and too few values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from trtspec.bench.quantile import Table, fewest_values, quantile_with_interval


def table(values):
    """Values of prompts in blocks, [blocks, prompts]."""
    cells = {
        (f"p{p}", b): [float(v)]
        for b, row in enumerate(values)
        for p, v in enumerate(row)
    }
    return Table.of(cells)


def test_it_is_numpys_quantile_of_all_values():
    values = np.random.default_rng(1).uniform(0, 1, (3, 40))
    found, _ = quantile_with_interval(table(values), 0.95)
    assert found == pytest.approx(np.quantile(values, 0.95))


def test_independent_values_have_the_jeffreys_interval_of_their_number():
    # no cluster says more than its values: the size is that of all values, lowered
    # for the few blocks
    random = np.random.default_rng(2)
    values = random.permutation(4 * 250).reshape(4, 250)
    _, (low, high) = quantile_with_interval(table(values), 0.5)
    widest = beta.ppf([0.025, 0.975], 0.5 * 100 + 0.5, 0.5 * 100 + 0.5) * 1000
    narrowest = beta.ppf([0.025, 0.975], 0.5 * 1000 + 0.5, 0.5 * 1000 + 0.5) * 1000
    assert widest[0] < low < narrowest[0] + 1
    assert narrowest[1] - 1 < high < widest[1]


def test_repeating_every_block_does_not_narrow_it():
    once = np.random.default_rng(3).uniform(1, 2, (1, 60))
    _, two = quantile_with_interval(table(np.repeat(once, 2, axis=0)), 0.5)
    _, ten = quantile_with_interval(table(np.repeat(once, 10, axis=0)), 0.5)
    assert ten == pytest.approx(two, rel=0.01)


def test_blocks_that_differ_widen_it():
    random = np.random.default_rng(4)
    calm = random.uniform(1, 2, (5, 60))
    drifting = calm + np.array([[-0.4], [-0.2], [0], [0.2], [0.4]])
    _, (low, high) = quantile_with_interval(table(calm), 0.5)
    _, (lower, higher) = quantile_with_interval(table(drifting), 0.5)
    assert higher - lower > 2 * (high - low)


def test_where_only_blocks_differ_it_is_the_t_interval_of_the_blocks():
    values = np.repeat([[1.0], [1.1], [1.2]], 20, axis=1)
    found, (low, high) = quantile_with_interval(table(values), 0.5)
    error = np.log([1.0, 1.1, 1.2]).std(ddof=1) / np.sqrt(3)
    reach = np.exp(4.302653 * error)
    assert (found, low, high) == pytest.approx((1.1, 1.1 / reach, 1.1 * reach))


def test_a_time_is_never_bounded_below_by_less_than_nothing():
    values = np.repeat([[1.0], [9.0], [0.1]], 20, axis=1)
    _, (low, high) = quantile_with_interval(table(values), 0.5)
    assert 0 < low < 1 < high


def test_a_tail_of_blocks_that_differ_has_no_interval():
    random = np.random.default_rng(8)
    values = random.uniform(1, 1.01, (5, 100)) + np.arange(5)[:, None]
    assert quantile_with_interval(table(values), 0.95)[1] is None
    assert quantile_with_interval(table(values), 0.5)[1] is not None


def test_equal_values_are_certain():
    assert quantile_with_interval(table(np.full((3, 9), 2.0)), 0.5) == (2.0, (2.0, 2.0))


@pytest.mark.parametrize("shape", [(1, 20), (20, 1), (1, 1), (4, 5)])
def test_one_block_or_few_prompts_has_no_interval(shape):
    values = np.random.default_rng(5).uniform(1, 2, shape)
    assert quantile_with_interval(table(values), 0.5)[1] is None


@pytest.mark.parametrize(("rank", "fewest"), [(0.5, 5.3), (0.95, 71.9), (0.99, 367.0)])
def test_a_quantile_needs_so_many_values_to_be_bounded(rank, fewest):
    assert fewest_values(rank) == pytest.approx(fewest, abs=0.1)
    # one value less, and all lie on one side in more than 2.5 % of samples
    assert max(rank, 1 - rank) ** fewest == pytest.approx(0.025, rel=0.02)


@pytest.mark.parametrize(("prompts", "given"), [(71, False), (72, True)])
def test_p95_of_few_prompts_has_no_interval(prompts, given):
    random = np.random.default_rng(6)
    values = np.exp(
        random.normal(0, 1, (1, prompts)) + random.normal(0, 0.01, (3, prompts))
    )
    _, interval = quantile_with_interval(table(values), 0.95)
    assert (interval is not None) == given


def test_several_values_of_a_request_are_one_cluster():
    random = np.random.default_rng(7)
    gaps = {
        (f"p{p}", b): [random.uniform(1, 2)] * 40 for p in range(30) for b in (1, 2)
    }
    single = {place: values[:1] for place, values in gaps.items()}
    _, many = quantile_with_interval(Table.of(gaps), 0.5)
    _, one = quantile_with_interval(Table.of(single), 0.5)
    assert many == pytest.approx(one, rel=0.05)


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 1.0, 1.5, 2.0, 7.0]), min_size=8, max_size=8),
        min_size=2,
        max_size=5,
    ),
)
def test_the_interval_holds_the_median(rows):
    value, interval = quantile_with_interval(table(rows), 0.5)
    assert interval[0] <= value <= interval[1]

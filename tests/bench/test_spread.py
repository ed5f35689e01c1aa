"""Two sources of error: their variances, and how many errors an interval reaches."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from trtspec.bench.spread import Spread, freedom_of, spread_of, t_quantile


def spread(by_prompts, by_blocks, by_requests, *, prompts=24, blocks=4):
    return Spread(prompts, blocks, by_prompts, by_blocks, by_requests)


def test_a_table_by_hand():
    # rows are blocks: means 2 and 4; columns are prompts: means 1, 3, 5
    table = np.array([[0.0, 2.0, 4.0], [2.0, 4.0, 6.0]])
    found = spread_of(table)
    assert (found.blocks, found.prompts) == (2, 3)
    assert found.by_prompts == pytest.approx(4.0 / 3)
    assert found.by_blocks == pytest.approx(2.0 / 2)
    assert found.by_requests == pytest.approx(0.0)


def test_what_neither_explains_is_the_requests():
    # the rest is +-1: sum of squares 4, one degree of freedom, four cells
    found = spread_of(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    assert (found.by_prompts, found.by_blocks) == (0.0, 0.0)
    assert found.by_requests == pytest.approx(1.0)


def test_each_part_estimates_its_own_variance():
    random = np.random.default_rng(1)
    prompts, blocks = 30, 6
    found = [
        spread_of(
            random.normal(0, 3, (1, prompts))
            + random.normal(0, 2, (blocks, 1))
            + random.normal(0, 4, (blocks, prompts))
        )
        for _ in range(800)
    ]
    own = 16 / (prompts * blocks)
    assert np.mean([s.by_requests for s in found]) == pytest.approx(own, rel=0.05)
    assert np.mean([s.by_prompts for s in found]) == pytest.approx(
        9 / prompts + own, rel=0.05
    )
    assert np.mean([s.by_blocks for s in found]) == pytest.approx(
        4 / blocks + own, rel=0.06
    )


def test_the_noise_of_requests_is_counted_once():
    found = spread(3.0, 2.0, 1.0)
    assert (found.choice, found.variance) == (2.0, 4.0)
    assert found.error == 2.0


def test_a_choice_that_is_less_than_noise_is_none():
    assert spread(1.0, 2.0, 1.5).choice == 0.0
    assert spread(1.0, 2.0, 1.5).variance == 2.0


def test_where_only_blocks_differ_it_reaches_as_far_as_blocks_demand():
    assert spread(1.0, 2.0, 1.0).reach == pytest.approx(t.ppf(0.975, 3))


def test_where_only_prompts_differ_it_reaches_as_far_as_prompts_demand():
    assert spread(5.0, 0.0, 0.0).reach == pytest.approx(t.ppf(0.975, 23))


def test_in_between_it_is_half_way_between_two_approximations():
    cochran_cox = (2 * t.ppf(0.975, 23) + 1 * t.ppf(0.975, 3)) / 3
    satterthwaite = t.ppf(0.975, 3**2 / (2**2 / 23 + 1**2 / 3))
    assert satterthwaite < cochran_cox
    expected = (cochran_cox + satterthwaite) / 2
    assert spread(3.0, 1.0, 1.0).reach == pytest.approx(expected)


def test_without_any_spread_it_is_still_a_number():
    assert spread(0.0, 0.0, 0.0).reach == pytest.approx(t.ppf(0.975, 3))


@pytest.mark.parametrize("freedom", [1, 2, 4.5, 30, 500])
def test_degrees_of_freedom_are_found_from_their_quantile(freedom):
    assert freedom_of(t_quantile(freedom)) == pytest.approx(freedom)


def test_a_normal_quantile_has_endless_degrees():
    assert freedom_of(1.95) == 1e6

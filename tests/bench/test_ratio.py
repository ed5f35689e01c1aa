"""Ratios and their intervals: known values, and data that carry none."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t

from trtspec.bench.jackknife import quantiles_of, rate_of
from trtspec.bench.ratio import Ratio, paired_ratio
from trtspec.bench.spread import t_quantile


def median_of(values):
    return quantiles_of(np.asarray(values, float), [0.5])[0]


def rates(tokens, seconds):
    return rate_of(np.asarray(tokens, float), np.asarray(seconds, float))


def medians(on, off) -> Ratio:
    found = paired_ratio(median_of(on), median_of(off))
    assert found is not None
    return found


def test_the_estimate_is_the_geometric_mean_over_blocks():
    assert medians([[2.0, 2.0], [8.0, 8.0]], np.ones((2, 2))).estimate == (
        pytest.approx(4.0)
    )


def test_equal_prompts_leave_only_the_error_between_blocks():
    block_ratios = np.array([1.2, 1.3, 1.4])
    ratio = medians(np.repeat(block_ratios[:, None], 9, axis=1), np.ones((3, 9)))
    logs = np.log(block_ratios)
    half = t.ppf(0.975, 2) * logs.std(ddof=1) / np.sqrt(3)
    expected = np.exp([logs.mean() - half, logs.mean() + half])
    assert ratio.blocks_interval == pytest.approx(tuple(expected))
    assert ratio.prompts_interval == pytest.approx((ratio.estimate,) * 2)
    assert ratio.interval == pytest.approx(ratio.blocks_interval)
    assert ratio.error == pytest.approx(logs.std(ddof=1) / np.sqrt(3))
    assert ratio.freedom == pytest.approx(2)


def test_equal_blocks_leave_only_the_error_between_prompts():
    per_prompt = np.linspace(1.0, 2.0, 16)
    ratio = paired_ratio(
        rates(np.tile(per_prompt, (3, 1)), np.ones((3, 16))),
        rates(np.ones((3, 16)), np.ones((3, 16))),
    )
    assert ratio is not None
    assert ratio.estimate == pytest.approx(1.5)
    assert ratio.blocks_interval == pytest.approx((1.5, 1.5))
    assert ratio.interval == pytest.approx(ratio.prompts_interval)
    assert ratio.freedom == pytest.approx(15)
    # close to the t interval of a mean of 16 values, wider by 16 / 15
    half = t.ppf(0.975, 15) * per_prompt.std(ddof=1) / 4 * 16 / 15
    assert ratio.interval == pytest.approx((1.5 - half, 1.5 + half), abs=0.02)


def test_noise_of_single_requests_is_counted_once():
    """Neither prompts nor blocks differ: both parts see the same noise."""
    random = np.random.default_rng(4)
    ones = np.ones((5, 40))
    ratios = [
        paired_ratio(
            rates(np.exp(random.normal(0, 0.1, (5, 40))), ones), rates(ones, ones)
        )
        for _ in range(200)
    ]
    true = 0.1 / np.sqrt(200)
    assert np.mean([r.error**2 for r in ratios]) ** 0.5 == pytest.approx(true, rel=0.12)
    # counted twice it would be more by the root of two
    both = [log(r.blocks_interval[1] / r.estimate) / t.ppf(0.975, 4) for r in ratios]
    assert np.mean(np.square(both)) ** 0.5 == pytest.approx(true, rel=0.12)


def test_the_two_errors_are_added_as_squares():
    random = np.random.default_rng(3)
    on = np.exp(random.normal(0.2, 0.3, 12)[None, :] + random.normal(0, 0.1, (4, 1)))
    ones = np.ones((4, 12))
    ratio = paired_ratio(rates(on, ones), rates(ones, ones))
    assert ratio is not None
    # blocks and prompts are additive in the logarithm: there is no other noise
    of_blocks = np.log(on).mean(axis=1).std(ddof=1) / 2
    of_prompts = log(ratio.prompts_interval[1] / ratio.estimate) / t.ppf(0.975, 11)
    assert ratio.error == pytest.approx(np.hypot(of_prompts, of_blocks))
    reach = log(ratio.interval[1] / ratio.estimate) / ratio.error
    assert reach == pytest.approx(t_quantile(ratio.freedom))
    assert t.ppf(0.975, 11) < reach < t.ppf(0.975, 3)


def test_the_same_data_give_the_same_interval():
    values = np.random.default_rng(1).uniform(1, 2, (3, 10))
    assert medians(values, values[::-1]) == medians(values, values[::-1])


@pytest.mark.parametrize(("blocks", "prompts"), [(1, 10), (3, 1)])
def test_one_block_or_one_prompt_has_an_estimate_and_no_interval(blocks, prompts):
    ratio = medians(np.full((blocks, prompts), 3.0), np.full((blocks, prompts), 2.0))
    assert ratio.estimate == pytest.approx(1.5)
    assert ratio.interval is ratio.error is ratio.freedom is None


@pytest.mark.parametrize(("on", "off"), [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0)])
def test_without_positive_values_there_is_no_ratio(on, off):
    of_on, of_off = (median_of(np.full((3, 8), value)) for value in (on, off))
    assert paired_ratio(of_on, of_off) is None


def test_where_all_hangs_on_one_prompt_there_is_no_interval():
    ratio = medians(np.array([[0.0] * 7 + [1.0]] * 3), np.ones((3, 8)))
    assert 0 < ratio.estimate < 1
    assert ratio.interval is ratio.error is None


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    blocks=st.integers(2, 5),
    prompts=st.integers(2, 12),
)
def test_the_interval_holds_the_estimate(seed, blocks, prompts):
    on, off = np.random.default_rng(seed).uniform(0.5, 2, (2, blocks, prompts))
    ratio = medians(on, off)
    low, high = ratio.interval
    assert low <= ratio.estimate * (1 + 1e-12)
    assert high >= ratio.estimate * (1 - 1e-12)
    assert min(blocks, prompts) - 1 <= ratio.freedom * (1 + 1e-6)
    assert ratio.freedom <= (blocks + prompts - 2) * (1 + 1e-6)


def test_swapping_the_arms_inverts_the_ratio():
    on, off = np.random.default_rng(5).uniform(0.5, 2, (2, 3, 9))
    there, back = medians(on, off), medians(off, on)
    assert there.estimate == pytest.approx(1 / back.estimate)
    assert there.inverse.interval == pytest.approx(back.interval)


def test_the_inverse_turns_every_interval_round():
    ratio = Ratio(
        estimate=2.0,
        interval=(1.6, 2.5),
        prompts_interval=(1.8, 2.2),
        blocks_interval=None,
        error=0.1,
        freedom=4.0,
    ).inverse
    assert ratio.estimate == 0.5
    assert ratio.interval == pytest.approx((0.4, 0.625))
    assert ratio.prompts_interval == pytest.approx((1 / 2.2, 1 / 1.8))
    assert ratio.blocks_interval is None
    assert (ratio.error, ratio.freedom) == (0.1, 4.0)


def test_units_do_not_matter():
    on, off = np.random.default_rng(6).uniform(0.5, 2, (2, 3, 9))
    seconds, milliseconds = medians(on, off), medians(on * 1000, off * 1000)
    assert milliseconds.estimate == pytest.approx(seconds.estimate)
    assert milliseconds.interval == pytest.approx(seconds.interval)


def test_a_gain_that_is_the_same_for_all_is_certain():
    off = np.random.default_rng(7).uniform(0.5, 2, (3, 9))
    ratio = medians(off * exp(0.3), off)
    assert ratio.interval == pytest.approx((exp(0.3), exp(0.3)))

"""Ratios and their intervals: known values, coverage, degenerate data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from trtspec.bench.ratio import median_of, paired_ratio, rate_of


def rates(tokens, seconds):
    return rate_of(np.asarray(tokens, float), np.asarray(seconds, float))


def test_the_statistics_are_computed_per_block_and_resample():
    values = np.array([[1.0, 2.0, 9.0], [4.0, 5.0, 6.0]])  # [blocks, prompts]
    prompts = np.array([[0, 1, 2], [0, 0, 2]])  # [resamples, prompts]
    assert median_of(values)(prompts).tolist() == [[2.0, 1.0], [5.0, 4.0]]
    rate = rate_of(values, np.ones((2, 3)))(prompts)
    assert rate.tolist() == [[4.0, 11 / 3], [5.0, 14 / 3]]


def test_the_estimate_is_the_geometric_mean_over_blocks():
    on = median_of(np.array([[2.0, 2.0], [8.0, 8.0]]))
    off = median_of(np.ones((2, 2)))
    ratio = paired_ratio(on, off, 2)
    assert ratio is not None
    assert ratio.estimate == pytest.approx(4.0)


def test_equal_prompts_leave_only_the_error_between_blocks():
    block_ratios = np.array([1.2, 1.3, 1.4])
    on = median_of(np.repeat(block_ratios[:, None], 9, axis=1))
    ratio = paired_ratio(on, median_of(np.ones((3, 9))), 9)
    logs = np.log(block_ratios)
    half = t.ppf(0.975, 2) * logs.std(ddof=1) / np.sqrt(3)
    expected = np.exp([logs.mean() - half, logs.mean() + half])
    assert ratio is not None
    assert ratio.blocks_interval == pytest.approx(tuple(expected))
    assert ratio.prompts_interval == pytest.approx((ratio.estimate,) * 2)
    assert ratio.interval == pytest.approx(ratio.blocks_interval)


def test_equal_blocks_leave_only_the_error_between_prompts():
    per_prompt = np.linspace(1.0, 2.0, 16)
    on = rates(np.tile(per_prompt, (3, 1)), np.ones((3, 16)))
    off = rates(np.ones((3, 16)), np.ones((3, 16)))
    ratio = paired_ratio(on, off, 16)
    assert ratio is not None
    assert ratio.estimate == pytest.approx(1.5)
    assert ratio.blocks_interval == pytest.approx((1.5, 1.5))
    assert ratio.interval == pytest.approx(ratio.prompts_interval)
    # close to the t interval of a mean of 16 values
    half = t.ppf(0.975, 15) * per_prompt.std(ddof=1) / 4
    assert ratio.interval == pytest.approx((1.5 - half, 1.5 + half), abs=0.02)


def test_the_two_errors_are_added_as_squares():
    random = np.random.default_rng(3)
    on = np.exp(random.normal(0.2, 0.3, 12)[None, :] + random.normal(0, 0.1, (4, 1)))
    ratio = paired_ratio(
        rates(on, np.ones((4, 12))), rates(np.ones((4, 12)), np.ones((4, 12))), 12
    )
    assert ratio is not None
    assert ratio.interval is not None
    assert ratio.prompts_interval is not None
    assert ratio.blocks_interval is not None
    for side in (0, 1):
        parts = [
            np.log(i[side] / ratio.estimate)
            for i in (ratio.prompts_interval, ratio.blocks_interval)
        ]
        whole = abs(np.log(ratio.interval[side] / ratio.estimate))
        assert whole == pytest.approx(np.hypot(*parts))


def test_the_same_data_give_the_same_interval():
    values = np.random.default_rng(1).uniform(1, 2, (3, 10))
    first = paired_ratio(median_of(values), median_of(values[::-1]), 10)
    assert first == paired_ratio(median_of(values), median_of(values[::-1]), 10)


@pytest.mark.parametrize(("blocks", "prompts"), [(1, 10), (3, 1)])
def test_one_block_or_one_prompt_has_an_estimate_and_no_interval(blocks, prompts):
    on = median_of(np.full((blocks, prompts), 3.0))
    off = median_of(np.full((blocks, prompts), 2.0))
    ratio = paired_ratio(on, off, prompts)
    assert ratio is not None
    assert ratio.estimate == pytest.approx(1.5)
    assert ratio.interval is None


@pytest.mark.parametrize(("on", "off"), [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0)])
def test_without_positive_values_there_is_no_ratio(on, off):
    assert (
        paired_ratio(median_of(np.full((3, 8), on)), median_of(np.full((3, 8), off)), 8)
        is None
    )


@given(
    seed=st.integers(0, 2**32 - 1),
    blocks=st.integers(2, 5),
    prompts=st.integers(2, 12),
)
def test_the_interval_holds_the_estimate_and_both_parts(seed, blocks, prompts):
    random = np.random.default_rng(seed)
    on, off = random.uniform(0.5, 2, (2, blocks, prompts))
    ratio = paired_ratio(median_of(on), median_of(off), prompts)
    assert ratio is not None
    assert ratio.interval is not None
    assert ratio.prompts_interval is not None
    assert ratio.blocks_interval is not None
    low, high = ratio.interval
    assert low <= ratio.estimate * (1 + 1e-12)
    assert high >= ratio.estimate * (1 - 1e-12)
    for part in (ratio.prompts_interval, ratio.blocks_interval):
        assert low <= part[0] * (1 + 1e-9)
        assert high >= part[1] * (1 - 1e-9)


def test_swapping_the_arms_inverts_the_estimate():
    random = np.random.default_rng(5)
    on, off = random.uniform(0.5, 2, (2, 3, 9))
    there = paired_ratio(median_of(on), median_of(off), 9)
    back = paired_ratio(median_of(off), median_of(on), 9)
    assert there is not None
    assert back is not None
    assert there.estimate == pytest.approx(1 / back.estimate)


@pytest.mark.parametrize(("blocks", "block_noise"), [(3, 0.05), (5, 0.05), (3, 0.0)])
def test_the_interval_covers_the_true_ratio(blocks, block_noise):
    """Nominal 95 %; prompts differ in gain, blocks in speed, requests in noise."""
    covered = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        prompts = 16
        gain = random.normal(np.log(1.3), 0.15, prompts)
        noise = random.normal(0, 0.03, (2, blocks, prompts))
        drift = random.normal(0, block_noise, (2, blocks, 1))
        base = random.uniform(1, 3, prompts)
        off = base * np.exp(noise[0] + drift[0])
        on = base * np.exp(noise[1] + drift[1] - gain)
        ones = np.ones((blocks, prompts))
        ratio = paired_ratio(rates(ones, on), rates(ones, off), prompts)
        assert ratio is not None
        assert ratio.interval is not None
        # mean seconds of many prompts: E[exp(-gain)] = exp(-mu + sigma^2 / 2)
        truth = 1.3 * np.exp(-(0.15**2) / 2)
        covered += ratio.interval[0] <= truth <= ratio.interval[1]
    assert covered >= 184

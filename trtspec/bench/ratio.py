"""How much faster or slower is one arm, and how sure is that: ratios with intervals.

An interval covers two independent sources of error: which prompts were asked (a
bootstrap over prompts) and when the blocks ran (a t interval over blocks). Their
distances from the estimate are added as squares (Zou and Donner, Statistics in
Medicine 27, 2008).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from trtspec.bench.records import Record

CONFIDENCE = 0.95
RESAMPLES = 4000
SEED = 20261

Floats = NDArray[np.float64]
Interval = tuple[float, float]
BlockStatistic = Callable[[NDArray[np.intp]], Floats]
"""Computes an arm's statistic per block from the prompts at the given indices:
[resamples, prompts] -> [blocks, resamples]."""


class Ratio(Record):
    """On / off, with 95 % intervals; null where the data do not carry one."""

    estimate: float = Field(
        gt=0, description="Geometric mean over blocks of the block's on/off ratio."
    )
    interval: Interval | None = Field(description="Both sources of error together.")
    prompts_interval: Interval | None = Field(
        description="From the choice of prompts: bootstrap; needs 2 prompts."
    )
    blocks_interval: Interval | None = Field(
        description="From block to block: t interval; needs 2 blocks."
    )


def median_of(values: Floats) -> BlockStatistic:
    """Take the median over prompts.

    :param values: one value per block and prompt, [blocks, prompts].
    """

    def statistic(prompts: NDArray[np.intp]) -> Floats:
        return np.asarray(np.median(values[:, prompts], axis=-1))

    return statistic


def rate_of(amounts: Floats, seconds: Floats) -> BlockStatistic:
    """Take the sum of amounts over the sum of seconds.

    :param amounts: [blocks, prompts].
    :param seconds: [blocks, prompts].
    """

    def statistic(prompts: NDArray[np.intp]) -> Floats:
        total = amounts[:, prompts].sum(axis=-1)
        return np.asarray(total / seconds[:, prompts].sum(axis=-1))

    return statistic


def paired_ratio(on: BlockStatistic, off: BlockStatistic, prompts: int) -> Ratio | None:
    """Compare the arms: block n on with block n off, over the same prompts.

    :param prompts: how many prompts there are; a resample draws this many, the same
        ones in both arms and all blocks.
    :return: None if a statistic is not positive, so that there is no ratio.
    """
    everyone = np.arange(prompts)[None, :]
    of_blocks = _log_ratios(on, off, everyone)[:, 0]  # [blocks]
    if not np.isfinite(of_blocks).all():
        return None
    estimate = float(of_blocks.mean())
    from_prompts = _prompts_interval(on, off, prompts)
    from_blocks = _blocks_interval(of_blocks)
    return Ratio(
        estimate=float(np.exp(estimate)),
        interval=_exp(_combine(estimate, from_prompts, from_blocks)),
        prompts_interval=_exp(from_prompts),
        blocks_interval=_exp(from_blocks),
    )


def _log_ratios(
    on: BlockStatistic, off: BlockStatistic, prompts: NDArray[np.intp]
) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(on(prompts)) - np.log(off(prompts))


def _prompts_interval(
    on: BlockStatistic, off: BlockStatistic, prompts: int
) -> Interval | None:
    """Bootstrap over prompts, percentiles widened for small samples.

    Plain percentiles are too narrow for few prompts; they are moved out to where a t
    interval would be (expanded percentile interval, Hesterberg, arXiv 1411.5279).
    """
    from scipy.stats import norm, t

    if prompts < 2:
        return None
    generator = np.random.default_rng(SEED)
    drawn = generator.integers(prompts, size=(RESAMPLES, prompts))
    resampled = _log_ratios(on, off, drawn).mean(axis=0)  # [resamples]
    reach = t.ppf((1 + CONFIDENCE) / 2, prompts - 1)
    tail = norm.cdf(-reach * np.sqrt(prompts / (prompts - 1)))
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return float(low), float(high)


def _blocks_interval(log_ratios: Floats) -> Interval | None:
    """Student's t interval of the mean log ratio over blocks."""
    from scipy.stats import t

    blocks = len(log_ratios)
    if blocks < 2:
        return None
    reach = t.ppf((1 + CONFIDENCE) / 2, blocks - 1)
    half = float(reach * log_ratios.std(ddof=1) / np.sqrt(blocks))
    center = float(log_ratios.mean())
    return center - half, center + half


def _combine(
    estimate: float, first: Interval | None, second: Interval | None
) -> Interval | None:
    if first is None or second is None:
        return None
    # an estimate outside its own bootstrap interval counts as on its edge
    below = np.hypot(max(estimate - first[0], 0.0), max(estimate - second[0], 0.0))
    above = np.hypot(max(first[1] - estimate, 0.0), max(second[1] - estimate, 0.0))
    return float(estimate - below), float(estimate + above)


def _exp(interval: Interval | None) -> Interval | None:
    if interval is None:
        return None
    return float(np.exp(interval[0])), float(np.exp(interval[1]))

"""How one arm's numbers stand to the baseline's: every ratio, each statistic once."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np
from numpy.typing import NDArray

from trtspec.bench.jackknife import Statistic, quantiles_of, rate_of
from trtspec.bench.metrics import LATENCIES, ArmData, RequestMetric
from trtspec.bench.metrics.base import MIN_SAMPLES
from trtspec.bench.quantile import fewest_values
from trtspec.bench.ratio import Ratio, paired_ratio
from trtspec.bench.records import Sample
from trtspec.bench.wall_share import wall_shares

THROUGHPUT = "output_throughput"

FEWEST_FOR_INTERVAL = {rank: ceil(fewest_values(rank / 100)) for rank in MIN_SAMPLES}
"""Prompts from which on a percentile's ratio has an interval: 6, 72 and 368."""

Floats = NDArray[np.float64]


class Statistics:
    """An arm's statistics per block, jackknifed; kept for the next comparison.

    :param data: has every prompt in every block.
    """

    def __init__(self, data: ArmData) -> None:
        self.data = data
        self.prompts = tuple(dict.fromkeys(s.prompt_id for s in data.samples))
        self._grid: dict[tuple[int, str], Sample] = {
            (s.block, s.prompt_id): s for s in data.samples
        }
        self._rates: dict[tuple[str, ...], Statistic] = {}
        self._quantiles: dict[tuple[str, tuple[str, ...]], dict[int, Statistic]] = {}

    def without(self, metric: RequestMetric) -> set[str]:
        """Give the prompts that have no value of the metric in some block."""
        return {s.prompt_id for s in self.data.samples if metric.of(s) is None}

    def throughput(self, prompts: tuple[str, ...]) -> Statistic:
        """Take a block's output tokens over its wall time, both split by prompt."""
        if prompts not in self._rates:
            tokens, seconds = [], []
            for block in self.data.blocks:
                row = [self._grid[block.block, p] for p in prompts]
                tokens.append([float(s.output_tokens) for s in row])
                submitted = np.array([s.submitted for s in row])
                e2e = np.array([s.e2e for s in row])
                seconds.append(wall_shares(submitted, e2e, block.wall_seconds))
            self._rates[prompts] = rate_of(np.array(tokens), np.array(seconds))
        return self._rates[prompts]

    def quantiles(
        self, metric: RequestMetric, prompts: tuple[str, ...]
    ) -> dict[int, Statistic]:
        """Take the percentiles that so many prompts have, by rank."""
        key = metric.tag, prompts
        if key not in self._quantiles:
            ranks = [r for r, fewest in MIN_SAMPLES.items() if len(prompts) >= fewest]
            found = quantiles_of(
                self._values(metric, prompts), [r / 100 for r in ranks]
            )
            self._quantiles[key] = dict(zip(ranks, found, strict=True))
        return self._quantiles[key]

    def _values(self, metric: RequestMetric, prompts: Sequence[str]) -> Floats:
        """Give the metric's values, [blocks, prompts]."""
        rows = [
            [metric.of(self._grid[block.block, p]) for p in prompts]
            for block in self.data.blocks
        ]
        return np.array(rows, dtype=np.float64)


def ratios_between(on: Statistics, off: Statistics) -> dict[str, Ratio | None]:
    """Give arm / baseline: output throughput, and each latency's percentiles.

    A percentile has a ratio where every block has enough prompts for it, and an
    interval where they can bound it.
    """
    everyone = off.prompts
    ratios = {
        THROUGHPUT: paired_ratio(on.throughput(everyone), off.throughput(everyone))
    }
    for metric in LATENCIES:
        without = on.without(metric) | off.without(metric)
        prompts = tuple(p for p in everyone if p not in without)
        of_on, of_off = (
            arm.quantiles(metric, prompts) if prompts else {} for arm in (on, off)
        )
        for rank in MIN_SAMPLES:
            ratios[f"{metric.tag}.p{rank}"] = (
                _bounded(paired_ratio(of_on[rank], of_off[rank]), rank, len(prompts))
                if rank in of_on
                else None
            )
    return ratios


def _bounded(ratio: Ratio | None, rank: int, prompts: int) -> Ratio | None:
    """Take the interval away where so few prompts cannot bound the percentile."""
    if ratio is None or prompts >= FEWEST_FOR_INTERVAL[rank]:
        return ratio
    nothing = dict.fromkeys(
        ("interval", "prompts_interval", "blocks_interval", "error", "freedom")
    )
    return ratio.model_copy(update=nothing)

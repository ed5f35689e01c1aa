"""Invented measurements whose truth is known, and how often intervals cover it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, log, sqrt

import numpy as np

from trtspec.bench.jackknife import quantiles_of, rate_of
from trtspec.bench.power import power_of, visible_difference
from trtspec.bench.quantile import Table, quantile_with_interval
from trtspec.bench.ratio import paired_ratio
from trtspec.bench.spread import Spread, freedom_of
from trtspec.bench.verdict import judge

RANKS = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


@dataclass(frozen=True)
class Design:
    """How much the parts of a measurement vary; standard deviations of logarithms.

    A latency is that of its prompt, by what its block does to all requests of a round
    (``drift``, shared by the arms) and of an arm (``blocks_differ``), by noise of its
    own that is exponential and so skewed; with speculation divided by the prompt's
    gain.

    :param gain: median gain of the on arm; 1 for an arm against itself.
    :param gains_differ: between prompts.
    :param noise: mean of the exponential part of a request, relative.
    :param slow: share of prompts that take three times as long: a second hump.
    """

    blocks: int
    prompts: int
    prompts_differ: float = 0.5
    gains_differ: float = 0.15
    noise: float = 0.1
    blocks_differ: float = 0.01
    drift: float = 0.03
    slow: float = 0.0
    gain: float = 1.25

    def draw(self, random: np.random.Generator, arms: int = 2) -> np.ndarray:
        """Latencies, [arms, blocks, prompts]; off first, only the last arm is on."""
        base, gains = self._draw_prompts(random, self.prompts)
        of_blocks = random.normal(0, self.drift, (1, self.blocks, 1)) + random.normal(
            0, self.blocks_differ, (arms, self.blocks, 1)
        )
        latencies = (
            base
            * np.exp(of_blocks)
            * self._own(random, (arms, self.blocks, self.prompts))
        )
        latencies[-1] *= np.exp(-gains)
        return latencies

    def endless(self, random: np.random.Generator) -> tuple[np.ndarray, ...]:
        """Requests of ever new prompts in ever new blocks.

        :return: off; off and on as in one and the same average block.
        """
        size = 2_000_000
        base, gains = self._draw_prompts(random, size)
        calm = base * self._own(random, size)
        on = base * np.exp(-gains) * self._own(random, size)
        of_blocks = random.normal(0, np.hypot(self.drift, self.blocks_differ), size)
        return calm * np.exp(of_blocks), calm, on

    def _draw_prompts(
        self, random: np.random.Generator, count: int
    ) -> tuple[np.ndarray, np.ndarray]:
        base = np.exp(random.normal(0, self.prompts_differ, count))
        base = base * np.where(random.random(count) < self.slow, 3.0, 1.0)
        return base, log(self.gain) + random.normal(0, self.gains_differ, count)

    def _own(
        self, random: np.random.Generator, shape: int | tuple[int, ...]
    ) -> np.ndarray:
        return 1 - self.noise + self.noise * random.exponential(1, shape)


@lru_cache
def truth(design: Design) -> dict[str, float]:
    """What an endless measurement would give."""
    return _truth(replace(design, blocks=0, prompts=0))


@lru_cache
def _truth(design: Design) -> dict[str, float]:
    off, calm, on = design.endless(np.random.default_rng(1))
    found = {"throughput": calm.sum() / on.sum()}
    for name, rank in RANKS.items():
        found[name] = float(np.quantile(off, rank))
        found[f"ratio of {name}"] = float(
            np.quantile(on, rank) / np.quantile(calm, rank)
        )
    return found


Interval = tuple[float, float]
Method = Callable[[np.ndarray, np.ndarray], Interval | None]


def latency_interval(rank: float) -> Method:
    """Interval of a percentile of the off arm's latencies."""

    def method(off: np.ndarray, on: np.ndarray) -> Interval | None:
        values = {
            (str(p), b): [v] for b, row in enumerate(off) for p, v in enumerate(row)
        }
        return quantile_with_interval(Table.of(values), rank)[1]

    return method


def ratio_interval(rank: float) -> Method:
    """Interval of the ratio of two percentiles."""

    def method(off: np.ndarray, on: np.ndarray) -> Interval | None:
        (of_on,), (of_off,) = quantiles_of(on, [rank]), quantiles_of(off, [rank])
        found = paired_ratio(of_on, of_off)
        return found.interval if found else None

    return method


def throughput_ratio(off: np.ndarray, on: np.ndarray):
    """The ratio itself; every request has the same number of tokens."""
    tokens = np.ones_like(off)
    return paired_ratio(rate_of(tokens, on), rate_of(tokens, off))


def throughput_interval(off: np.ndarray, on: np.ndarray) -> Interval | None:
    """Interval of the ratio of output throughputs, one request in flight."""
    found = throughput_ratio(off, on)
    return found.interval if found else None


def naive_throughput_interval(off: np.ndarray, on: np.ndarray) -> Interval:
    """The negative control: every request counts as if it were another prompt."""
    center = log(off.sum() / on.sum())
    apart = off / off.mean() - on / on.mean()
    half = 1.96 * float(apart.std()) / sqrt(off.size)
    return exp(center - half), exp(center + half)


def naive_median_interval(off: np.ndarray, on: np.ndarray) -> Interval:
    """The same for the median: order statistics of all requests as independent."""
    ordered = np.sort(off.ravel())
    half = 0.98 * sqrt(len(ordered))
    middle = len(ordered) / 2
    return float(ordered[int(middle - half)]), float(ordered[int(middle + half)])


METHODS: dict[str, Method] = {
    "p50": latency_interval(0.5),
    "p95": latency_interval(0.95),
    "ratio of p50": ratio_interval(0.5),
    "ratio of p95": ratio_interval(0.95),
    "throughput": throughput_interval,
}


def draws(design: Design, runs: int, seed: int, arms: int = 2) -> Iterator[np.ndarray]:
    """Give so many measurements."""
    random = np.random.default_rng([seed, design.blocks, design.prompts])
    for _ in range(runs):
        yield design.draw(random, arms)


@dataclass(frozen=True)
class Coverage:
    """How often intervals held the truth.

    :param given: share of runs that had an interval.
    :param covered: of those, the share that held the truth.
    """

    given: float
    covered: float


def coverage(
    design: Design,
    what: str,
    runs: int,
    *,
    method: Method | None = None,
    seed: int = 7,
) -> Coverage:
    """Simulate, and count."""
    true = truth(design)[what]
    found = [(method or METHODS[what])(*data) for data in draws(design, runs, seed)]
    given = [interval for interval in found if interval is not None]
    held = sum(low <= true <= high for low, high in given)
    return Coverage(len(given) / runs, held / len(given) if given else float("nan"))


def words(design: Design, runs: int, *, seed: int = 11) -> list[str]:
    """Give the verdict of each run, with an A/A control beside it."""
    found = []
    for off, again, on in draws(design, runs, seed, arms=3):
        verdict = judge(
            throughput_ratio(off, on),
            None,
            blocks=design.blocks,
            prompts=design.prompts,
            drafted=1,
            control=throughput_ratio(off, again),
        )
        found.append(verdict.word)
    return found


def control_words(design: Design, runs: int, *, seed: int = 13) -> list[str]:
    """Give the verdict of the off arm against itself."""
    return [
        judge(
            throughput_ratio(off, again),
            None,
            blocks=design.blocks,
            prompts=design.prompts,
            drafted=1,
        ).word
        for off, again in draws(replace(design, gain=1.0, gains_differ=0.0), runs, seed)
    ]


def stated_power(design: Design) -> float:
    """The power that follows from the design's own variances."""
    prompts = design.prompts
    # a prompt's weight in the sum of seconds is its own length
    uneven = exp(design.prompts_differ**2)
    own = 2 * design.noise**2 * uneven / (prompts * design.blocks)
    of_blocks = 2 * design.blocks_differ**2 / design.blocks + own
    choice = design.gains_differ**2 * uneven / prompts
    spread = Spread(prompts, design.blocks, choice, of_blocks, 0.0)
    return power_of(design.gain - 1, spread.error, freedom_of(spread.reach))


def found_as_visible(design: Design, runs: int, *, seed: int = 17) -> float:
    """How often a gain is found that is just what each run's control calls visible."""
    alike = replace(design, gain=1.0, gains_differ=0.0)
    found = 0
    for off, again, on in draws(alike, runs, seed, arms=3):
        gain = visible_difference(throughput_ratio(off, again))
        verdict = judge(
            throughput_ratio(off, on / (1 + gain)),
            None,
            blocks=design.blocks,
            prompts=design.prompts,
            drafted=1,
        )
        found += verdict.word == "faster"
    return found / runs

"""What was predicted, and what was measured, length by length."""

from __future__ import annotations

from math import erf, log, sqrt
from typing import NamedTuple

from trtspec.bench.ratio import Ratio
from trtspec.bench.result import BenchResult
from trtspec.bench.spread import t_quantile
from trtspec.tune.confirm import OUTPUT, fixed_name, measurements
from trtspec.tune.decide import Choice


class Cell(NamedTuple):
    """One draft length of one workload under one load.

    :ivar chosen: whether it is the tuner's choice there.
    :ivar predicted: throughput / that of plain decoding.
    :ivar measured: the same, measured.
    :ivar replayed: acceptance length of the replay.
    :ivar acceptance: the measured one.
    :ivar regret: of the choice in this workload and load.
    :ivar error: standard error of ``measured``, relative, from round to round.
    """

    workload: str
    concurrency: int
    length: int
    chosen: bool
    predicted: float
    measured: float
    replayed: float
    acceptance: float
    regret: float
    error: float


def compared(workload: str, choice: Choice, result: BenchResult) -> list[Cell]:
    """Compare every length under every load; 0 is plain decoding."""
    cells = []
    errors = _errors(result)
    for load, arms in measurements(result).items():
        lengths = choice.evidence.candidate.lengths
        gains = {k: arms[fixed_name(k)].gain for k in lengths} | {0: 1.0}
        regret = 1 - gains[choice.lengths[load]] / max(gains.values())
        for length in (0, *lengths):
            predicted = choice.with_length(load, length)
            accepted = arms[fixed_name(length)].acceptance_length if length else 1.0
            cells.append(
                Cell(
                    workload,
                    load,
                    length,
                    length == choice.lengths[load],
                    choice.gain(load, length),
                    gains[length],
                    predicted.acceptance_length or 1.0,
                    accepted or 1.0,
                    regret,
                    errors.get((load, fixed_name(length)), 0.0),
                )
            )
    return cells


def _errors(result: BenchResult) -> dict[tuple[int | None, str], float]:
    return {
        (cell.load.concurrency, arm): _error(ratio, result)
        for cell in result.cells
        for arm, comparison in cell.comparisons.items()
        if (ratio := comparison.ratios.get(OUTPUT))
    }


def _error(ratio: Ratio, result: BenchResult) -> float:
    """Read the error off the interval that the rounds alone give."""
    if ratio.blocks_interval is None:
        return 0.0
    low, high = ratio.blocks_interval
    return log(high / low) / 2 / t_quantile(result.plan.settings.repeats - 1)


def pooled_error(cells: list[Cell]) -> float:
    """Give one error for all measured ratios; a cell's own is of few rounds."""
    drafted = [cell.error for cell in cells if cell.length]
    return sqrt(sum(error**2 for error in drafted) / len(drafted))


def within_by_chance(error: float, bound: float = 0.05) -> float:
    """Give the share of measurements that lie so near to a truth that is known.

    :param error: standard error of each, relative.
    """
    return erf(log(1 + bound) / error / sqrt(2))

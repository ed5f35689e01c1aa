"""What was predicted, and what was measured, length by length."""

from __future__ import annotations

from typing import NamedTuple

from trtspec.bench.result import BenchResult
from trtspec.tune.confirm import fixed_name, measurements
from trtspec.tune.decide import Choice


class Cell(NamedTuple):
    """One draft length of one workload under one load.

    :ivar chosen: whether it is the tuner's choice there.
    :ivar predicted: throughput / that of plain decoding.
    :ivar measured: the same, measured.
    :ivar replayed: acceptance length of the replay.
    :ivar acceptance: the measured one.
    :ivar regret: of the choice in this workload and load.
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


def compared(workload: str, choice: Choice, result: BenchResult) -> list[Cell]:
    """Compare every length under every load; 0 is plain decoding."""
    cells = []
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
                )
            )
    return cells

"""What a bench says of a choice, and what becomes of the choice then.

The measurement goes before the prediction: where the chosen length turned out slower
than plain decoding, nothing is drafted; where another length turned out clearly better,
it is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trtspec.bench.cells import Cell
from trtspec.bench.result import BenchResult
from trtspec.tune.result import Measurement

TUNED = "tuned"
"""Name of the arm that has the chosen lengths."""

OUTPUT = "output_throughput"


_PLAIN = Measurement(gain=1.0, interval=(1.0, 1.0), word="no difference")
"""What the choice is where it is not to draft: plain decoding against itself."""


def fixed_name(length: int) -> str:
    """Name the arm that has one draft length throughout."""
    return f"draft length {length}"


def measurements(result: BenchResult) -> dict[int, dict[str, Measurement]]:
    """Give what was measured, by concurrency and arm."""
    return {
        cell.load.concurrency: found
        for cell in result.cells
        if cell.load.concurrency and (found := _of_cell(cell))
    }


def _of_cell(cell: Cell) -> dict[str, Measurement]:
    found = {}
    for arm, comparison in cell.comparisons.items():
        ratio = comparison.ratios.get(OUTPUT)
        if ratio is None:
            continue
        acceptance = cell.arms[arm].acceptance
        found[arm] = Measurement(
            gain=ratio.estimate,
            interval=ratio.interval,
            word=comparison.verdict.word,
            acceptance_length=acceptance.length if acceptance else None,
        )
    return found


@dataclass(frozen=True, slots=True)
class Revised:
    """A choice after the measurement.

    :param lengths: by batch size.
    :param arms: which arm of the bench stands for each load.
    :param changed: what was changed, in words.
    """

    lengths: dict[int, int]
    arms: dict[int, str]
    changed: tuple[str, ...]


def revise(
    lengths: Mapping[int, int], measured: Mapping[int, Mapping[str, Measurement]]
) -> Revised:
    """Let the measurement correct a choice.

    :param lengths: chosen for each batch size, never rising.
    :param measured: by load and arm; ``TUNED`` is the choice itself.
    """
    revised = dict(lengths)
    arms = {
        load: TUNED if TUNED in found else next(iter(found), TUNED)
        for load, found in measured.items()
    }
    changed: list[str] = []
    for load, found in sorted(measured.items()):
        tuned = found.get(TUNED, _PLAIN)
        better = _clearly_better(tuned, found)
        if better is not None:
            length = int(better.removeprefix(fixed_name(0)[:-1]))
            changed.append(_told(load, better, found[better], tuned))
            revised[load], arms[load] = length, better
        elif tuned.word == "slower":
            changed.append(_told(load, "plain decoding", None, tuned))
            revised[load] = 0
    return Revised(_never_rising(revised), arms, tuple(changed))


def _clearly_better(tuned: Measurement, found: Mapping[str, Measurement]) -> str | None:
    """Name a single length that is better beyond its own interval, if there is one."""
    others = {
        arm: one
        for arm, one in found.items()
        if arm.startswith(fixed_name(0)[:-1]) and one.interval is not None
    }
    better = [
        arm
        for arm, one in others.items()
        if one.interval and one.interval[0] > max(tuned.gain, 1.0)
    ]
    return max(better, key=lambda arm: found[arm].gain, default=None)


def _told(
    load: int, instead: str, found: Measurement | None, tuned: Measurement
) -> str:
    why = f"measured {tuned.gain:.2f} times plain decoding"
    other = f", {instead} {found.gain:.2f}" if found else ""
    return (
        f"at {load} running: {instead} in place of the predicted choice ({why}{other})"
    )


def _never_rising(lengths: Mapping[int, int]) -> dict[int, int]:
    """Cut lengths that are longer than that of a smaller batch."""
    kept: dict[int, int] = {}
    least: int | None = None
    for batch in sorted(lengths):
        length = lengths[batch] if least is None else min(lengths[batch], least)
        kept[batch] = least = length
    return kept


def regret(
    lengths: Mapping[int, int], measured: Mapping[int, Mapping[str, Measurement]]
) -> dict[int, float]:
    """Give 1 - gain of the chosen length / that of the best, by load.

    :param measured: with an arm for every length; plain decoding has the gain 1.
    """
    found = {}
    for load, arms in measured.items():
        gains = {
            int(arm.removeprefix(fixed_name(0)[:-1])): one.gain
            for arm, one in arms.items()
            if arm != TUNED
        } | {0: 1.0}
        if lengths[load] in gains:
            found[load] = 1 - gains[lengths[load]] / max(gains.values())
    return found


def outside(predicted: float, found: Measurement) -> bool:
    """Whether a prediction lies outside of what was measured."""
    if found.interval is None:
        return False
    low, high = found.interval
    return not low <= predicted <= high

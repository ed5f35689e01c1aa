"""From which concurrency on speculation no longer pays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from trtspec.bench.cells import BreakEven
from trtspec.bench.ratio import Ratio
from trtspec.bench.spread import CONFIDENCE

Floats = NDArray[np.float64]

DRAWS = 4000
SEED = 20261


def break_even(ladder: Mapping[int, Ratio | None]) -> BreakEven:
    """Find where the throughput ratio crosses 1 on a ladder of concurrencies.

    Between two rungs the logarithm of the ratio is taken as linear in the logarithm of
    the concurrency. The interval comes from ladders drawn around the measured one: each
    rung is normal around its estimate, with the spread that gives its own interval,
    and independent of the others, whose blocks ran at other times. A drawn ladder that
    does not cross counts as its end, so an interval that reaches an end of the ladder
    may be open there; one that reaches both says nothing.

    :param ladder: on / off output throughput by concurrency.
    """
    if reason := _unusable(ladder):
        return BreakEven(kind="no claim", reason=reason)
    rungs = sorted(ladder)
    places = np.log(np.array(rungs, dtype=float))
    ratios = [ratio for rung in rungs if (ratio := ladder[rung]) and ratio.interval]
    centers = np.log([r.estimate for r in ratios])
    lows, highs = np.log([r.interval or (1.0, 1.0) for r in ratios]).T
    if (lows > 0).all():
        return BreakEven(kind="always faster")
    if (highs < 0).all():
        return BreakEven(kind="always slower")
    if not _crosses_once(centers):
        return BreakEven(
            kind="no claim",
            reason="the ratio does not go from above 1 to below 1 once on this ladder",
        )
    crossing = _first_falls(places, centers[None, :])[0]
    drawn = _first_falls(places, _draw(centers, lows, highs))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    if low <= places[0] and high >= places[-1]:
        return BreakEven(kind="no claim", reason="it may lie anywhere on this ladder")
    return BreakEven(
        kind="crossing",
        concurrency=float(np.exp(crossing)),
        interval=(float(np.exp(low)), float(np.exp(high))),
    )


def _unusable(ladder: Mapping[int, Ratio | None]) -> str:
    if len(ladder) < 2:
        return "needs at least two concurrencies"
    missing = [str(c) for c, r in ladder.items() if r is None or r.interval is None]
    if missing:
        return f"no ratio to rely on at concurrency {', '.join(missing)}"
    return ""


def _crosses_once(values: Floats) -> bool:
    """Whether the values begin above 0 and fall through it exactly once."""
    above = values > 0
    return bool(above[0] and np.count_nonzero(above[:-1] != above[1:]) == 1)


def _first_falls(places: Floats, ladders: Floats) -> Floats:
    """Give the place where each ladder first falls to 0, or the end it points to.

    :param ladders: log ratios, [ladders, rungs].
    """
    below = ladders <= 0
    after = np.where(below.any(axis=1), below.argmax(axis=1), -1)
    inside = after > 0
    row = np.flatnonzero(inside)
    left, right = after[inside] - 1, after[inside]
    part = ladders[row, left] / (ladders[row, left] - ladders[row, right])
    ends = np.where(after == 0, places[0], places[-1])
    ends[inside] = places[left] + part * (places[right] - places[left])
    return np.asarray(ends)


def _draw(centers: Floats, lows: Floats, highs: Floats) -> Floats:
    """Draw ladders, [draws, rungs]; each side of a rung has its own spread."""
    from scipy.special import ndtri

    reach = ndtri((1 + CONFIDENCE) / 2)
    noise = np.random.default_rng(SEED).standard_normal((DRAWS, len(centers)))
    spread = np.where(noise < 0, centers - lows, highs - centers) / reach
    return np.asarray(centers + noise * spread)

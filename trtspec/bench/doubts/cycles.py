"""How much of a sequence is a short cycle, repeated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def repeated_share(items: Sequence[int], longest_cycle: int) -> float:
    """Give the share of a sequence that its longest periodic stretch covers.

    A stretch with period p is a run in which every item equals the one p before it;
    it counts from two whole periods and 4 items on. ``1 2 1 2 1 2 9 9`` has the period
    2 over six items of eight: 0.75.

    :param items: token ids, or anything numbered.
    :param longest_cycle: the longest period that is looked for.
    """
    values = np.asarray(items)
    best = 0
    for period in range(1, min(longest_cycle, len(values) // 2) + 1):
        run = _longest_run(values[period:] == values[:-period])
        covered = run + period
        if run >= period and covered >= 4:
            best = max(best, covered)
    return best / len(values) if len(values) else 0.0


def _longest_run(same: NDArray[np.bool_]) -> int:
    """Give the length of the longest stretch of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]])))
    return int((edges[1::2] - edges[::2]).max(initial=0))

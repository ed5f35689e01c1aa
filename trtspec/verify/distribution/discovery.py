"""Which of many p-values count, when the more are looked at, the more are small."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def benjamini_hochberg(p_values: Sequence[float], rate: float) -> NDArray[np.bool_]:
    """Say which of them are discoveries.

    With m values in rising order, the largest k with p(k) <= rate * k / m is taken, and
    the first k count (Y. Benjamini and Y. Hochberg, Controlling the false discovery
    rate, J. R. Stat. Soc. B 57, 1995). The expected share of false ones among them is
    at most ``rate`` for independent values; where there is nothing to discover, it is
    also the chance of any discovery.
    """
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    passed = p[order] <= rate * np.arange(1, len(p) + 1) / len(p)
    found = np.zeros(len(p), bool)
    if passed.any():
        found[order[: int(np.flatnonzero(passed)[-1]) + 1]] = True
    return found

"""How far two rows of counts lie apart: the G statistic.

    G = 2 * sum O ln(O / E),   E = row total * column total / all

over the 2 x C cells of a table (S. S. Wilks, The likelihood test of independence in
contingency tables, Ann. Math. Stat. 6, 1935; Sokal and Rohlf, Biometry, ch. 17). Under
independence and with large counts it follows chi-square with C - 1 degrees of freedom.
Here its distribution is never taken from there, but from permutations.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def g_statistic(first: Ints, total: Ints, table: Floats | None = None) -> Floats:
    """Give G of one table, or of many with the same column totals.

    :param first: counts of the first row, [..., C].
    :param total: those of both rows, [C].
    :param table: ``x_log_x`` up to the sum of ``total``, if it is at hand.
    :returns: [...]; 0 where one row is empty.
    """
    count = int(total.sum())
    x = x_log_x(count) if table is None else table
    size = first.sum(-1)
    inner = x[first].sum(-1) + x[total - first].sum(-1)
    margins = x[size] + x[count - size] + x[total].sum() - x[count]
    found: Floats = np.maximum(2 * (inner - margins), 0.0)
    return found


def x_log_x(most: int) -> Floats:
    """Give x ln x for x = 0, 1, ..., most; 0 for 0."""
    x = np.arange(most + 1, dtype=np.float64)
    return x * np.log(np.maximum(x, 1))

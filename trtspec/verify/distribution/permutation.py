"""How large a statistic comes out when arms do not matter: by dealing labels anew.

If two arms answer alike, every way to call n of the N answers to a prompt "on" is as
likely as the real one. So the share of random ways whose statistic is at least as large
as the real one's is a p-value, exact at any sample size (B. Phipson and G. Smyth,
Permutation p-values should never be zero, Stat. Appl. Genet. Mol. Biol. 9, 2010):

    p = (1 + number at least as large) / (1 + number of ways tried)

Whole answers are dealt, so what depends on what within one answer is kept; answers are
dealt within their prompt, so prompts may differ as they like. Chi-square's own tables
are for large counts in every cell, which few sampled tokens never have.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trtspec.verify.distribution.cells import Ints, indicator
from trtspec.verify.distribution.gtest import Floats, g_statistic, x_log_x

_ROUNDING = 1e-9
"""Statistics that are equal but for rounding count as equal."""


def dealt(
    answers: int, first: int, times: int, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Deal the label "first" to so many of the answers, again and again.

    :returns: 1 for those that got it, [times, answers].
    """
    # the lowest of random numbers get it; a tie at the last of them, once in 100 000
    # rows, makes one more, and every choice of that many is as likely, too
    order = rng.random((times, answers), dtype=np.float32)
    last = np.partition(order, first - 1, axis=1)[:, first - 1, None]
    return (order <= last).astype(np.float32)


def g_of_deals(
    places: Sequence[Ints], first: int, times: int, rng: np.random.Generator
) -> tuple[float, Floats]:
    """Give G, summed over places, as it is and for labels dealt anew.

    :param places: the cell of each answer at each place; the answers of the first arm
        stand first.
    :param first: how many they are.
    :returns: the real one, and [times].
    """
    answers = len(places[0])
    labels = np.vstack(
        [np.arange(answers) < first, dealt(answers, first, times, rng)]
    ).astype(np.float32)
    table = x_log_x(answers)
    found = np.zeros(times + 1)
    for cells in places:
        counts = np.rint(labels @ indicator(cells)).astype(np.int64)
        found += g_statistic(counts, np.bincount(cells), table)
    return float(found[0]), found[1:]


def p_value(real: float, null: Floats) -> float:
    """Give the share of values at least as large, the real one among them."""
    return float((1 + (null >= real - _ROUNDING).sum()) / (1 + len(null)))

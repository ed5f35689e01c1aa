"""Whether tokens were drawn from distributions that are known exactly.

At one place each answer has its own text so far, and the reference engine says how
likely each token is after it. Answers with the same text make a row of a table. The
statistic is the deviance of the counts O from what is expected, E,

    G = 2 * sum (O ln(O / E) - O + E),   E = answers with the text * p(token after it)

over cells: (text, token) where at least ``LEAST_EXPECTED`` are expected, the token
after any other text where that many are, one cell for the rest, and one for tokens that
have no chance. Cells are chosen by what is expected, never by what came. How large G is
by chance is not taken from chi-square but simulated: tokens are drawn from the same
distributions, with the texts as they are. That makes a place's p-value exact whatever
came before it, and p-values that are exact given what came before may be combined as if
they were independent (R. Fisher, Statistical Methods for Research Workers, 1932:
-2 sum ln p is chi-square with two degrees of freedom for each).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from trtspec.verify.distribution.compare import LEAST_EXPECTED
from trtspec.verify.distribution.gtest import Floats, Ints
from trtspec.verify.distribution.permutation import p_value

FLOOR = 0.1
"""Least that counts as expected in a cell: one token that has no chance, at the edge of
a nucleus that is rounded in another way, must not make the statistic infinite."""


@dataclass(frozen=True, slots=True)
class Row:
    """The tokens that came after one text.

    :param p: the reference's distribution there, [symbols].
    :param counts: how often each came, [symbols].
    """

    p: Floats
    counts: Ints

    @property
    def answers(self) -> int:
        """How many came."""
        return int(self.counts.sum())


@dataclass(frozen=True, slots=True)
class Tested:
    """One place's statistic, as it is and for tokens drawn as expected: [times]."""

    real: float
    null: Floats
    cells: int

    @property
    def p(self) -> float:
        """The share of draws at least as far off."""
        return p_value(self.real, self.null)


def place_test(rows: Sequence[Row], times: int, rng: np.random.Generator) -> Tested:
    """Test the tokens at one place of the answers to one prompt.

    :param rows: one per text that stands before.
    """
    shared = _shared(rows)
    tables = [_cells(row, shared) for row in rows]
    # columns: cells of single rows one after another, then what rows share
    last = len(shared) + 2
    own = sum(len(table.p) - last for table in tables)
    expected = np.zeros(own + last)
    counts = np.zeros((times + 1, own + last))
    at = 0
    for row, table in zip(rows, tables, strict=True):
        columns = [*range(at, at + len(table.p) - last), *range(own, own + last)]
        at += len(table.p) - last
        expected[columns] += row.answers * table.p
        counts[0, columns] += table.counts
        counts[1:, columns] += rng.multinomial(row.answers, table.p, size=times)
    g = deviance(counts, expected)
    return Tested(float(g[0]), g[1:], len(expected))


@dataclass(frozen=True, slots=True)
class _Table:
    """One row in cells: its own, shared ones, the rest, what has no chance."""

    p: Floats
    counts: Ints


def _frequent(row: Row) -> NDArray[np.bool_]:
    """Say which tokens have a cell of their own in a row."""
    found: NDArray[np.bool_] = row.answers * row.p >= LEAST_EXPECTED
    return found


def _shared(rows: Sequence[Row]) -> Ints:
    """Give the tokens that have a cell for what no row has one of its own for."""
    left = sum(np.where(_frequent(row), 0.0, row.answers * row.p) for row in rows)
    return np.flatnonzero(np.asarray(left) >= LEAST_EXPECTED)


def _cells(row: Row, shared: Ints) -> _Table:
    own = _frequent(row)
    together = np.where(own[shared], 0.0, row.p[shared])
    p = np.concatenate([row.p[own], together])
    counts = np.concatenate(
        [row.counts[own], np.where(own[shared], 0, row.counts[shared])]
    )
    impossible = int(row.counts[row.p <= 0].sum())
    whole = np.append(p, [max(0.0, 1.0 - float(p.sum())), 0.0])
    rest = row.answers - int(counts.sum()) - impossible
    return _Table(whole / whole.sum(), np.append(counts, [rest, impossible]))


def deviance(counts: Floats, expected: Floats) -> Floats:
    """Give G of one table or many, [..., cells] → [...]; never below 0."""
    e = np.maximum(expected, FLOOR)
    terms = np.where(counts > 0, counts * np.log(np.maximum(counts, 1) / e), 0.0)
    found: Floats = 2 * (terms - counts + e).sum(-1)
    return np.maximum(found, 0.0)


def combined(p_values: Sequence[float]) -> float:
    """Combine p-values that are each exact given what the earlier ones are about."""
    from scipy.special import chdtrc

    if not p_values:
        return 1.0
    return float(chdtrc(2 * len(p_values), -2 * sum(map(log, p_values))))

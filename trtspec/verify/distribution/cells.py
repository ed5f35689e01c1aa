"""Into which cells the answers to a prompt fall, so that no cell is nearly empty.

A fault of acceptance changes what follows a given token; summed over all tokens that
may stand before, changes cancel. So a cell is a pair (token before, token) where that
pair is frequent; the token alone where only the token is, and one last cell holds the
rest. Frequent means: in all arms together. Cells therefore do not depend on which
answer is of which arm, and a permutation test over them is exact.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from trtspec.verify.distribution.symbols import Symbol

Ints = NDArray[np.int64]


def coded(answers: Sequence[Sequence[Symbol]]) -> Ints:
    """Number the symbols of all answers: [answers, places]."""
    flat = [symbol for one in answers for symbol in one]
    return numbered(flat).reshape(len(answers), -1)


def numbered(labels: Sequence[Hashable]) -> Ints:
    """Number equal labels alike, from 0 on, in order of appearance."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(one, len(numbers)) for one in labels], np.int64)


def cells_at(codes: Ints, place: int, least: int) -> Ints:
    """Give the cell of each answer at one place.

    :param codes: of the answers of all arms, [answers, places].
    :param place: from 1; place 0 is what the prefill gave.
    :param least: answers in a cell, but for the last one.
    :returns: numbers from 0 on, [answers].
    """
    size = int(codes.max()) + 1
    after = codes[:, place]
    pairs = codes[:, place - 1] * size + after
    frequent = _counts(pairs) >= least
    alone = np.bincount(after[~frequent], minlength=size)[after] >= least
    # three kinds of cells in ranges of their own: pairs, tokens alone, the rest
    kind = np.where(frequent, pairs, np.where(alone, size**2 + after, size**2 + size))
    return np.unique(kind, return_inverse=True)[1]


def _counts(labels: Ints) -> Ints:
    """Say of each label how often it occurs."""
    _, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
    return counts[inverse]


def indicator(cells: Ints) -> NDArray[np.float32]:
    """Give a row per answer that is 1 in the column of its cell: [answers, cells]."""
    return np.eye(int(cells.max()) + 1, dtype=np.float32)[cells]

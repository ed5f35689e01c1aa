"""What counts as the same token: equal ids, or equal pieces of text, and the end.

A server may tell a token by its text only, and several ids can have one text: half a
character has none of its own, and special tokens are left out. Such ids are one symbol
with the sum of their probabilities. What follows one cannot be judged: the text so far
is not known as ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trtspec.verify.arm import Answer
from trtspec.verify.distribution.gtest import Floats, Ints

_ENDED = "stop"


@dataclass(frozen=True, slots=True)
class Symbols:
    """How tokens are told apart.

    :param of_token: the symbol of each id, [vocabulary].
    :param single: the id of each symbol that has only one, else -1: [symbols].
    :param by_text: symbol of each piece of text; empty where ids are told.
    :param end: symbol of all that ends an answer.
    """

    of_token: Ints
    single: Ints
    by_text: Mapping[str, int]
    end: int

    def folded(self, p: Floats) -> Floats:
        """Add up the probabilities of ids with one symbol: [vocabulary] → [symbols]."""
        size = len(self.single)
        total = np.bincount(self.of_token[: len(p)], weights=p, minlength=size)
        return total.astype(np.float64)

    def read(self, answer: Answer, places: int) -> tuple[int, ...]:
        """Give the first symbols of an answer; fewer where they are not known."""
        found = [*self._told(answer)]
        ended = found.index(self.end) if self.end in found else None
        if ended is not None:
            found = found[: ended + 1]
        elif answer.finish == _ENDED and len(found) < places:
            found.append(self.end)  # engines that leave the end token out
        return tuple(found[:places])

    def _told(self, answer: Answer) -> list[int]:
        if answer.tokens is not None:
            return [int(self.of_token[token]) for token in answer.tokens]
        known = []
        for piece in answer.pieces or ():
            symbol = self.by_text.get(piece)
            if symbol is None:
                break
            known.append(symbol)
        return known

    def ids(self, answer: Answer) -> tuple[int, ...]:
        """Give an answer's token ids, or of its beginning those that are known."""
        if answer.tokens is not None:
            return answer.tokens
        found: list[int] = []
        for symbol in self._told(answer):
            if (token := int(self.single[symbol])) < 0:
                break
            found.append(token)
        return tuple(found)

    def path(self, symbols: Sequence[int]) -> tuple[int, ...] | None:
        """Give the ids of symbols; None if one of them may be several."""
        ids = tuple(int(self.single[one]) for one in symbols)
        return None if -1 in ids else ids


def symbols_by_id(vocabulary: int, ends: Collection[int]) -> Symbols:
    """Tell tokens apart by their ids."""
    return _numbered(list(range(vocabulary)), ends, {})


def symbols_by_text(
    texts: Sequence[str], ends: Collection[int], alone: Sequence[str] = ()
) -> Symbols:
    """Tell tokens apart by their text.

    :param texts: of each id behind another, [vocabulary].
    :param alone: of each id by itself, where that may be told in its place; it counts
        only if no other token reads so.
    """
    numbers: dict[str, int] = {}
    labels = [numbers.setdefault(text, len(numbers)) for text in texts]
    times = Counter(alone)
    for text, label in zip(alone, labels, strict=False):
        if times[text] == 1:
            numbers.setdefault(text, label)
    return _numbered(labels, ends, numbers)


def _numbered(
    labels: Sequence[int], ends: Collection[int], by_text: Mapping[str, int]
) -> Symbols:
    end = max(labels) + 1
    of_token = np.array(labels, np.int64)
    of_token[[one for one in ends if one < len(labels)]] = end
    single = np.full(end + 1, -1, np.int64)
    counts = np.bincount(of_token, minlength=end + 1)
    for token, symbol in enumerate(of_token):
        if counts[symbol] == 1:
            single[symbol] = token
    single[end] = -1
    return Symbols(of_token, single, by_text, end)

"""What lookahead decoding keeps of a request: the window and the pool of n-grams."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from trtspec.reference.tree import ROOT


class NGramPool:
    """N-grams by their first token: the latest few, each once.

    :param size: N, tokens of an n-gram.
    :param most: G, n-grams kept per first token.
    """

    def __init__(self, size: int, most: int) -> None:
        self._size, self._most = size, most
        self._following: dict[int, dict[tuple[int, ...], None]] = {}
        self._read = 0

    def read(self, text: Sequence[int]) -> None:
        """Take the n-grams that a growing text has more than before."""
        for start in range(self._read, len(text) - self._size + 1):
            self.add(text[start : start + self._size])
        self._read = max(self._read, len(text) - self._size + 1)

    def add(self, ngram: Sequence[int]) -> None:
        """Make an n-gram the latest one of its first token."""
        if not self._most:
            return
        known = self._following.setdefault(ngram[0], {})
        rest = tuple(ngram[1:])
        known.pop(rest, None)
        known[rest] = None
        if len(known) > self._most:
            del known[next(iter(known))]

    def guesses(self, first: int) -> list[tuple[int, ...]]:
        """Give what may follow a token, the latest first: N - 1 tokens each."""
        return list(reversed(self._following.get(first, {})))


class Window:
    """W columns of up to N - 1 tokens, one position apart.

    While the columns are not full, ``lead`` tokens stand before them, so that the last
    column ends at the same distance from the pending token in every step. The first
    token of a full column 0 stands where the pending token is, and is not used.

    :param text: prompt and output so far. First tokens are taken from it by a fixed
        seed: the request's own chance is left alone, and every run drafts the same.
    """

    def __init__(self, width: int, ngram_size: int, text: Sequence[int]) -> None:
        self._full = ngram_size - 1
        pick = random.Random(0)
        self._lead = pick.choices(text, k=max(ngram_size - 3, 0))
        self._columns = [pick.choices(text) for _ in range(width)]

    @property
    def depth(self) -> int:
        """Distance of the deepest node from the pending token."""
        return len(self._columns) + self._full - 2

    def hang(self, tokens: list[int], parents: list[int]) -> tuple[int, ...]:
        """Append the window's nodes to a tree's tokens and parents.

        :returns: the node that each column ends with, ``ROOT`` for the pending token.
        """

        def add(token: int, parent: int) -> int:
            tokens.append(token)
            parents.append(parent)
            return len(tokens) - 1

        base = ROOT
        for token in self._lead:
            base = add(token, base)
        ends = []
        for number, column in enumerate(self._columns):
            if number or not self._is_full:
                base = add(column[0], base)
            end = base
            for token in column[1:]:
                end = add(token, end)
            ends.append(end)
        return tuple(ends)

    def shift(self, pending: int, new: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Move on by one step.

        :param new: the target's best token after each column.
        :returns: the n-grams that the step has brought; none while columns grow.
        """
        was_full = self._is_full
        ngrams = []
        for number, (column, token) in enumerate(zip(self._columns, new, strict=True)):
            column.append(token)
            if was_full:
                first = column.pop(0)
                ngrams.append((first if number else pending, *column))
        if not was_full:
            self._lead = self._lead[1:]
        return iter(ngrams)

    @property
    def _is_full(self) -> bool:
        return len(self._columns[0]) == self._full

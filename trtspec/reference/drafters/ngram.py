"""Prompt lookup: propose what followed the last n tokens earlier in the text."""

from __future__ import annotations

from collections.abc import Sequence

from trtspec.methods import NGram
from trtspec.reference.drafters.base import DraftContext
from trtspec.reference.tree import NO_DRAFT, DraftTree


class NGramIndex:
    """Where each n-gram of one growing text last continued.

    :param longest: longest n-gram that is looked up.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._continuation: dict[tuple[int, ...], int] = {}
        self._indexed = 0

    def draft(self, tokens: Sequence[int], limit: int) -> list[int]:
        """Copy up to ``limit`` tokens from behind the latest earlier match.

        The longest n-gram that occurs earlier wins. A copy that reaches the end of
        the text goes on with what it has copied, so that a repetition is continued.
        """
        self._extend(tokens)
        for size in range(min(self._longest, len(tokens) - 1), 0, -1):
            start = self._continuation.get(tuple(tokens[-size:]))
            if start is not None:
                period = len(tokens) - start
                return [tokens[start + i % period] for i in range(limit)]
        return []

    def _extend(self, tokens: Sequence[int]) -> None:
        """Index the n-grams that end before the last token: those have a follower."""
        for end in range(max(self._indexed, 1), len(tokens)):
            for size in range(1, min(self._longest, end) + 1):
                self._continuation[tuple(tokens[end - size : end])] = end
        self._indexed = len(tokens)


class NGramDrafter:
    """Prompt lookup over prompt and output of each request."""

    forward_seconds = 0.0

    def __init__(self, method: NGram, slots: int) -> None:
        self._longest = method.max_matching_ngram
        self._indexes = [NGramIndex(self._longest) for _ in range(slots)]

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        """Give one chain of point masses per context."""
        return [
            self._chain(slot, context) if context.limit else NO_DRAFT
            for slot, context in enumerate(contexts)
        ]

    def _chain(self, slot: int, context: DraftContext) -> DraftTree:
        return DraftTree.chain(self._indexes[slot].draft(context.tokens, context.limit))

    def move(self, source: int, target: int) -> None:
        """Take the index of the text along."""
        self._indexes[target] = self._indexes[source]
        self._indexes[source] = NGramIndex(self._longest)

    def release(self, slot: int) -> None:
        """Forget the text."""
        self._indexes[slot] = NGramIndex(self._longest)

"""Prompt lookup: propose what followed the last n tokens earlier in the text."""

from __future__ import annotations

from collections.abc import Sequence

from trtspec.methods import NGram
from trtspec.reference.drafters.base import DraftContext
from trtspec.reference.tree import NO_DRAFT, DraftTree
from trtspec.run.prompt_lookup import NGramIndex


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

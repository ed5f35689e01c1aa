"""Prompt lookup: propose what followed the last n tokens earlier in the text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trtspec.methods import Method, NGram
from trtspec.reference.drafters.base import BaseDrafter, DraftContext
from trtspec.reference.drafters.setup import DrafterSetup
from trtspec.reference.tree import NO_DRAFT, DraftTree
from trtspec.run.prompt_lookup import PromptLookup


class NGramDrafter(BaseDrafter):
    """Prompt lookup over prompt and output of each request; the key is its slot."""

    def __init__(self, method: NGram) -> None:
        self._lookup = PromptLookup(method)

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        """Give one chain of point masses per context."""
        return [self._chain(slot, context) for slot, context in enumerate(contexts)]

    def _chain(self, slot: int, context: DraftContext) -> DraftTree:
        tokens = self._lookup.draft(
            slot, context.tokens, context.limit, context.speculation
        )
        return DraftTree.chain(tokens) if tokens else NO_DRAFT

    def move(self, source: int, target: int) -> None:
        """Take the index of the text along."""
        self._lookup.rename(source, target)

    def release(self, slot: int) -> None:
        """Forget the text."""
        self._lookup.forget(slot)


def open_drafter(
    method: Method, directory: Path | None, setup: DrafterSetup
) -> NGramDrafter:
    """Start with no text."""
    assert isinstance(method, NGram)
    return NGramDrafter(method)

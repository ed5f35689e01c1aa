"""Which rank a drafter gives each token of a text that is known.

A node of a fixed tree is drafted from what leads to it, and from nothing else in the
tree. So the ranks along the text that the target will write tell of every tree of
ranks how far it would have come, as long as the drafter reads that text itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torch import Tensor

from trtspec.reference.candidates import VocabularyMap, likeliest
from trtspec.reference.drafters.base import DraftContext
from trtspec.reference.tree import DraftTree


class FollowingPlan:
    """Follows texts, one per tree; see ``Plan``.

    :ivar growths: of the trees so far.
    """

    read_nodes = 0

    def __init__(self, texts: Sequence[Sequence[int]], ranks: int, depth: int) -> None:
        """Follow a text for each tree that will be started, in that order.

        :param texts: what comes behind the pending token.
        :param ranks: so many of the likeliest tokens are looked at.
        :param depth: most levels.
        """
        self._texts: Iterator[Sequence[int]] = iter(texts)
        self._ranks, self._depth = ranks, depth
        self.growths: list[FollowingGrowth] = []

    def start(
        self, context: DraftContext, vocabulary: VocabularyMap | None, room: int
    ) -> FollowingGrowth:
        """Begin a tree; see ``Plan``."""
        assert self._depth <= room + 1, "all but the last level are read"
        levels = min(self._depth, context.limit)
        text = next(self._texts)[:levels]
        self.growths.append(FollowingGrowth(text, self._ranks, vocabulary))
        return self.growths[-1]


class FollowingGrowth:
    """One chain along a text while it grows; see ``Growth``.

    :ivar ranks: of the text's tokens, -1: not among the likeliest; ends there.
    """

    def __init__(
        self, text: Sequence[int], most: int, vocabulary: VocabularyMap | None
    ) -> None:
        self._text, self._most, self._vocabulary = text, most, vocabulary
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.ranks: tuple[int, ...] = ()

    def grow(self, logits: Tensor) -> list[int]:
        """Note the next token's rank, and go on below it."""
        level = len(self.tokens)
        if level == len(self._text):
            return []
        found = likeliest(logits[0], self._most, self._vocabulary)
        tokens, token = [one.token for one in found], self._text[level]
        rank = tokens.index(token) if token in tokens else -1
        self.ranks = (*self.ranks, rank)
        if rank < 0:  # no tree of ranks goes on here
            return []
        self.tokens.append(token)
        self.parents.append(level - 1)
        return [level] if level + 1 < len(self._text) else []

    def tree(self) -> DraftTree:
        """Give what was followed."""
        return DraftTree.chain(self.tokens)

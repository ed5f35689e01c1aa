"""Trees whose shape is given: a chain, or paths of ranks.

A greedy request's node of rank r is the drafter's r-th likeliest token below its
parent. A sampled request's siblings are drawn without replacement, rank by rank; the
shape does not depend on what was drawn, so that each one's proposal is what it was
drawn from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from torch import Tensor

from trtspec.methods.trees import Paths
from trtspec.reference.candidates import VocabularyMap, siblings
from trtspec.reference.drafters.base import DraftContext
from trtspec.reference.tree import ROOT, DraftTree

Path = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StaticPlan:
    """Grows trees of one shape.

    :param ranks: for each inner node, by its path, the ranks of its children,
        ascending; the empty path is the pending token.
    """

    ranks: dict[Path, tuple[int, ...]]

    @classmethod
    def of(cls, paths: Paths) -> StaticPlan:
        """Make the plan of a tree that is given as a list of paths."""
        ranks: dict[Path, tuple[int, ...]] = {}
        for path in sorted(paths):
            ranks[path[:-1]] = (*ranks.get(path[:-1], ()), path[-1])
        return cls(ranks)

    @property
    def read_nodes(self) -> int:
        """Inner nodes; leaves are not read."""
        return len(self.ranks) - 1

    def start(
        self, context: DraftContext, vocabulary: VocabularyMap | None, room: int
    ) -> StaticGrowth:
        """Begin a tree; see ``Plan``."""
        assert self.read_nodes <= room
        return StaticGrowth(self, context, vocabulary)


@dataclass(frozen=True, slots=True)
class ChainPlan:
    """Grows chains as long as they are asked for.

    :param longest: the longest draft.
    """

    longest: int

    @property
    def read_nodes(self) -> int:
        """All but the last."""
        return self.longest - 1

    def start(
        self, context: DraftContext, vocabulary: VocabularyMap | None, room: int
    ) -> StaticGrowth:
        """Begin a chain of the context's limit; see ``Plan``."""
        return _chain(context.limit).start(context, vocabulary, room)


@lru_cache(maxsize=512)
def _chain(length: int) -> StaticPlan:
    return StaticPlan.of(tuple((0,) * depth for depth in range(1, length + 1)))


class StaticGrowth:
    """One tree of a given shape while it grows; see ``Growth``."""

    def __init__(
        self, plan: StaticPlan, context: DraftContext, vocabulary: VocabularyMap | None
    ) -> None:
        self._plan, self._context, self._vocabulary = plan, context, vocabulary
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self._proposals: list[Tensor | None] = []
        self._read: list[tuple[int, Path]] = [(ROOT, ())]

    def grow(self, logits: Tensor) -> list[int]:
        """Add the children of what was read last."""
        grown: list[tuple[int, Path]] = []
        for row, (node, path) in enumerate(self._read):
            ranks = self._plan.ranks[path]
            candidates = siblings(
                logits[row],
                ranks[-1] + 1,
                self._context.sampling,
                self._context.chance,
                self._vocabulary,
            )
            for rank in ranks:
                if rank < len(candidates):
                    grown.append((len(self.tokens), (*path, rank)))
                    self.tokens.append(candidates[rank].token)
                    self.parents.append(node)
                    self._proposals.append(candidates[rank].proposal)
        self._read = [
            (node, path)
            for node, path in grown
            if path in self._plan.ranks and len(path) < self._context.limit
        ]
        return [node for node, _ in self._read]

    def tree(self) -> DraftTree:
        """Give all nodes."""
        greedy = self._context.sampling.greedy
        proposals = () if greedy else tuple(self._proposals)
        return DraftTree(tuple(self.tokens), tuple(self.parents), proposals)

"""Trees that grow where the drafter is confident (EAGLE-2, arXiv 2406.16858).

A node's confidence is the product of the drafter's probabilities on the way to it. Per
level the most confident nodes are expanded; in the end the most confident of all nodes
are kept, which always form a tree: no node is more confident than its parent. Nothing
depends on chance, so the candidates are point masses for acceptance; dropping sampled
ones by their rank would bias the output.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from trtspec.reference.candidates import VocabularyMap
from trtspec.reference.drafters.base import DraftContext
from trtspec.reference.tree import ROOT, DraftTree


@dataclass(frozen=True, slots=True)
class DynamicPlan:
    """Grows trees by confidence.

    :param children: tokens that each expanded node is given.
    :param expanded: most nodes of a level that are expanded.
    :param levels: most levels.
    :param budget: nodes that are kept.
    """

    children: int
    expanded: int
    levels: int
    budget: int

    @property
    def read_nodes(self) -> int:
        """Those that are expanded; the last level's are not."""
        return self.expanded * (self.levels - 1)

    def start(
        self, context: DraftContext, vocabulary: VocabularyMap | None, room: int
    ) -> DynamicGrowth:
        """Begin a tree; see ``Plan``."""
        levels = min(self.levels, context.limit)
        return DynamicGrowth(self, levels, vocabulary, room)


class DynamicGrowth:
    """One dynamic tree while it grows; see ``Growth``."""

    def __init__(
        self,
        plan: DynamicPlan,
        levels: int,
        vocabulary: VocabularyMap | None,
        room: int,
    ) -> None:
        self._plan, self._levels, self._vocabulary = plan, levels, vocabulary
        self._room = room
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self._confidence: list[float] = []  # logarithms
        self._read = [ROOT]

    def grow(self, logits: Tensor) -> list[int]:
        """Add the likeliest children of what was read last."""
        first = len(self.tokens)
        for node, children in zip(self._read, self._likeliest(logits), strict=True):
            above = 0.0 if node == ROOT else self._confidence[node]
            for token, confidence in children:
                self.tokens.append(token)
                self.parents.append(node)
                self._confidence.append(above + confidence)
        self._levels -= 1
        self._read = self._worth_expanding(first) if self._levels else []
        self._room -= len(self._read)
        return self._read

    def tree(self) -> DraftTree:
        """Give the most confident nodes, no more than the budget."""
        kept = sorted(self._most_confident(range(len(self.tokens)), self._plan.budget))
        place = {node: index for index, node in enumerate(kept)} | {ROOT: ROOT}
        tokens = tuple(self.tokens[node] for node in kept)
        return DraftTree(tokens, tuple(place[self.parents[node]] for node in kept))

    def _likeliest(self, logits: Tensor) -> list[list[tuple[int, float]]]:
        """Tokens with the logarithm of their probability, for each row of logits."""
        top = logits.topk(min(self._plan.children, logits.shape[1]))
        logarithms = top.values.float() - logits.float().logsumexp(-1, keepdim=True)
        tokens = top.indices
        if self._vocabulary is not None:
            tokens = self._vocabulary.ids[tokens.to(self._vocabulary.ids.device)]
        pairs = zip(tokens.tolist(), logarithms.tolist(), strict=True)
        return [list(zip(*pair, strict=True)) for pair in pairs]

    def _worth_expanding(self, first: int) -> list[int]:
        """Choose among the nodes from ``first`` on, ascending.

        A node outside the budget stays outside, and with it all that is below it.
        """
        end = len(self.tokens)
        inside = self._most_confident(range(end), self._plan.budget)
        new = [node for node in inside if node >= first]
        return sorted(new[: min(self._plan.expanded, self._room)])

    def _most_confident(self, nodes: range, count: int) -> list[int]:
        """Order by confidence; of equal ones the older, which may be a parent."""
        ordered = sorted(nodes, key=lambda node: (-self._confidence[node], node))
        return ordered[:count]

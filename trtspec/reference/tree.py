"""What a drafter proposes: a tree of tokens below the pending token."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

ROOT = -1
"""Parent of the nodes that follow the pending token directly."""


@dataclass(frozen=True)
class DraftTree:
    """Draft tokens with their parents, in an order where parents come first.

    :param tokens: token id of each node.
    :param parents: node index of each node's parent, or ``ROOT``.
    :param proposals: for each node the distribution its token was really drawn from,
        [vocabulary] in float64, or None for a token chosen without chance (a point
        mass). Siblings are tried in order; for candidates drawn without replacement
        a later sibling's distribution has the earlier ones removed. Empty means that
        every node is a point mass.
    :param candidates: how many of the nodes, from the first on, may be accepted; the
        ones behind them only look ahead. None: all.
    :raises ValueError: if the parts do not fit together.
    """

    tokens: tuple[int, ...] = ()
    parents: tuple[int, ...] = ()
    proposals: tuple[Tensor | None, ...] = ()
    candidates: int | None = None

    def __post_init__(self) -> None:
        if len(self.parents) != len(self.tokens):
            raise ValueError("a draft tree needs one parent per token")
        if self.proposals and len(self.proposals) != len(self.tokens):
            raise ValueError("a draft tree needs one proposal per token, or none")
        for node, parent in enumerate(self.parents):
            if not ROOT <= parent < node:
                raise ValueError(f"node {node} stands before its parent {parent}")
        if not 0 <= self.drafted <= len(self.tokens):
            raise ValueError(f"{self.candidates} candidates of {len(self)} nodes")

    @classmethod
    def chain(
        cls, tokens: Sequence[int], proposals: Sequence[Tensor | None] = ()
    ) -> DraftTree:
        """Build the tree in which every token follows the one before it."""
        parents = tuple(range(ROOT, len(tokens) - 1))
        return cls(tuple(tokens), parents, tuple(proposals))

    @classmethod
    def of_paths(cls, paths: Iterable[Sequence[int]]) -> DraftTree:
        """Build a tree of point masses from what may follow the pending token.

        Paths that begin alike share the nodes of what they have in common.

        :param paths: token ids of each, the first token first.
        """
        nodes: dict[tuple[int, ...], int] = {}
        for path in paths:
            for end in range(1, len(path) + 1):
                nodes.setdefault(tuple(path[:end]), len(nodes))
        return cls(
            tuple(path[-1] for path in nodes),
            tuple(nodes.get(path[:-1], ROOT) for path in nodes),
        )

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def drafted(self) -> int:
        """Nodes that may be accepted: the draft tokens proper."""
        return len(self.tokens) if self.candidates is None else self.candidates

    @cached_property
    def is_chain(self) -> bool:
        """Whether every node follows the one before it."""
        return self.parents == tuple(range(ROOT, len(self.tokens) - 1))

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """Distance of each node from the pending token, 1 for its children."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(1 if parent == ROOT else depths[parent] + 1)
        return tuple(depths)

    @cached_property
    def depth(self) -> int:
        """The most draft tokens that one verification step can accept."""
        return max(self.depths[: self.drafted], default=0)

    def children(self, node: int) -> list[int]:
        """Give the candidates below ``node`` (or ``ROOT``) in the order of trial."""
        if self.is_chain:
            return [node + 1] if node + 1 < self.drafted else []
        parents = self.parents[: self.drafted]
        return [child for child, parent in enumerate(parents) if parent == node]

    def proposal(self, node: int) -> Tensor | None:
        """Give the distribution that the node's token was drawn from."""
        return self.proposals[node] if self.proposals else None

    def visibility(self) -> Tensor:
        """Say which of the step's tokens each of them may attend to.

        :returns: bool [1 + nodes, 1 + nodes]; row and column 0 are the pending token;
            entry (i, j) is True where j is i itself or an ancestor of it.
        """
        size = len(self.tokens) + 1
        visible = torch.eye(size, dtype=torch.bool)
        visible[:, 0] = True
        for node, parent in enumerate(self.parents):
            if parent != ROOT:
                visible[node + 1] |= visible[parent + 1]
        return visible


NO_DRAFT = DraftTree()

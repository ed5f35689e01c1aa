"""What a drafter that grows trees asks of each way to grow one."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

from trtspec.methods import Method
from trtspec.reference.candidates import VocabularyMap
from trtspec.reference.drafters.base import DraftContext
from trtspec.reference.tree import DraftTree


class Growth(Protocol):
    """One tree while it grows.

    Nodes are numbered as they come into being, parents first. What was read last is
    the pending token at first, then the nodes that ``grow`` named.

    :param tokens: token of each node so far.
    :param parents: parent of each node so far, ``ROOT`` for the pending token's.
    """

    tokens: list[int]
    parents: list[int]

    def grow(self, logits: Tensor) -> list[int]:
        """Give what was read last its children.

        :param logits: the drafter's after each of what was read last, [m, vocabulary].
        :returns: the new nodes that are to be read next, ascending; empty at the end.
        """
        ...

    def tree(self) -> DraftTree:
        """Give the tree that is to be verified."""
        ...


class Plan(Protocol):
    """How all trees of a method grow."""

    @property
    def read_nodes(self) -> int:
        """Most nodes of a tree that the drafter has to read."""
        ...

    def start(
        self, context: DraftContext, vocabulary: VocabularyMap | None, room: int
    ) -> Growth:
        """Begin a tree that is no deeper than the context's limit, 1 at least.

        :param vocabulary: maps the drafter's tokens, if they are not the target's.
        :param room: most nodes that the drafter can read.
        """
        ...


def room_for(plan: Plan, method: Method) -> int:
    """Nodes that a drafter must have room to read.

    A request may have parameters of its own, with trees as large as the method's. The
    drafter never reads a last node, so it reads one less.
    """
    return max(plan.read_nodes, method.longest_draft - 1)

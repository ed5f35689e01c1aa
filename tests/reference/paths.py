"""Which draft tokens lead to a node."""

from __future__ import annotations

from trtspec.reference.growth import Growth
from trtspec.reference.tree import ROOT, DraftTree


def path_to(tree: DraftTree | Growth, node: int) -> tuple[int, ...]:
    """Give the tokens below the pending one, that of the node last."""
    path: list[int] = []
    while node != ROOT:
        path.insert(0, tree.tokens[node])
        node = tree.parents[node]
    return tuple(path)

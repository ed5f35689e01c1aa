"""Which tree of draft tokens brings most, given how often each rank is right.

A node is the r-th guess after its parent. With p(r), the chance that the r-th guess is
accepted where its parent was, a chance is the product along the path, and a tree's
expected tokens are 1 + the sum over its nodes. The chances must not depend on where in
the tree a node is (Sequoia, arXiv 2402.12374), or be given by depth (Medusa, arXiv
2401.10774, section 2.3.3).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from functools import cache

Path = tuple[int, ...]
"""Ranks from the top down, from 0; the form of ``medusa_choices``."""


def expected_tokens(tree: Sequence[Path], chances: Sequence[Sequence[float]]) -> float:
    """Give the tokens per step that a tree brings, bonus included.

    :param chances: by depth, then by rank; the last depth's hold for deeper ones.
    """
    return 1.0 + sum(_chance(path, chances) for path in tree)


def _chance(path: Path, chances: Sequence[Sequence[float]]) -> float:
    found = 1.0
    for depth, rank in enumerate(path):
        at_depth = chances[min(depth, len(chances) - 1)]
        found *= at_depth[rank] if rank < len(at_depth) else 0.0
    return found


def greedy_tree(
    chances: Sequence[Sequence[float]], nodes: int, depth: int
) -> tuple[Path, ...]:
    """Add the most likely node, again and again (Medusa, section 2.3.3).

    It is the best tree of its size: a node is never likelier than its parent, nor than
    the guess before it if ranks are ordered, so the likeliest nodes always form a tree.

    :param chances: by depth, then by rank, not rising with the rank.
    :param nodes: most nodes.
    :param depth: deepest level.
    """
    tree: list[Path] = []
    open_nodes: list[tuple[float, Path]] = []

    def offer(path: Path) -> None:
        chance = _chance(path, chances)
        if chance > 0 and len(path) <= depth:
            heapq.heappush(open_nodes, (-chance, path))

    offer((0,))
    while open_nodes and len(tree) < nodes:
        _, path = heapq.heappop(open_nodes)
        tree.append(path)
        offer((*path, 0))
        offer((*path[:-1], path[-1] + 1))
    return tuple(sorted(tree, key=lambda p: (len(p), p)))


def optimal_tokens(ranks: Sequence[float], nodes: int, depth: int) -> float:
    """Give the most tokens per step of any tree, by dynamic programming.

    T(n, d): of a subtree with n nodes, its top included, at most d levels below it.
    With its first b children taken one after the other,
    T(n, d, b) = max over m of T(n - m, d, b - 1) + p(b) T(m, d - 1)
    (Sequoia's recursion, with a limit on the depth).

    :param ranks: p by rank, the same at every depth.
    :param nodes: draft tokens of the tree.
    """

    @cache
    def below(size: int, levels: int, children: int) -> float:
        if size == 1 or levels == 0 or children == 0:
            return 1.0
        best = below(size, levels, children - 1)
        for part in range(1, size):
            rest = below(size - part, levels, children - 1)
            branch = below(part, levels - 1, len(ranks))
            best = max(best, rest + ranks[children - 1] * branch)
        return best

    return below(nodes + 1, depth, len(ranks))


def best_size(
    chances: Sequence[Sequence[float]], costs: Sequence[float], depth: int
) -> tuple[int, float]:
    """Give the number of nodes with most tokens per second; the smallest of equals.

    :param costs: seconds of a step that verifies 1 + n tokens, by n from 0; measured,
        so they may be jagged.
    :return: nodes, and tokens per second.
    """
    rates = [
        expected_tokens(greedy_tree(chances, nodes, depth), chances) / cost
        for nodes, cost in enumerate(costs)
    ]
    best = max(range(len(rates)), key=lambda nodes: (rates[nodes], -nodes))
    return best, rates[best]

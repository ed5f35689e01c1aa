"""Trees against every tree there is, on small cases."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trtspec.tune.trees import best_size, expected_tokens, greedy_tree, optimal_tokens


def every_tree(nodes: int, depth: int, ranks: int):
    """All trees of so many nodes; of siblings the lower ranks come first."""
    found = {frozenset()}
    for _ in range(nodes):
        grown = set()
        for tree in found:
            for parent in [(), *tree]:
                if len(parent) == depth:
                    continue
                for rank in range(ranks):
                    child = (*parent, rank)
                    first = rank == 0 or (*parent, rank - 1) in tree
                    if child not in tree and first:
                        grown.add(tree | {child})
        found = grown
    return found


falling = st.lists(st.floats(0.01, 0.6), min_size=2, max_size=3).map(
    lambda values: sorted((v / sum([1.0, *values]) for v in values), reverse=True)
)


@settings(max_examples=40, deadline=None)
@given(falling, st.integers(1, 5), st.integers(1, 3))
def test_both_ways_find_the_best_of_all_trees(ranks, nodes, depth):
    trees = every_tree(nodes, depth, len(ranks))
    if not trees:  # no tree has so many nodes
        return
    best = max(expected_tokens(list(tree), [ranks]) for tree in trees)
    greedy = greedy_tree([ranks], nodes, depth)
    assert expected_tokens(greedy, [ranks]) == pytest.approx(best, abs=1e-12)
    assert optimal_tokens(ranks, nodes, depth) == pytest.approx(best, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.lists(falling, min_size=2, max_size=3), st.integers(1, 5))
def test_the_greedy_way_is_best_by_depth_too(chances, nodes):
    ranks = min(map(len, chances))
    chances = [row[:ranks] for row in chances]
    trees = every_tree(nodes, len(chances), ranks)
    best = max((expected_tokens(list(t), chances) for t in trees), default=None)
    if best is not None:
        greedy = greedy_tree(chances, nodes, len(chances))
        assert expected_tokens(greedy, chances) == pytest.approx(best, abs=1e-12)


def test_a_tree_has_its_parents_and_earlier_siblings():
    tree = greedy_tree([[0.6, 0.2, 0.1], [0.5, 0.2]], 12, 3)
    for path in tree:
        assert len(path) == 1 or path[:-1] in tree
        assert path[-1] == 0 or (*path[:-1], path[-1] - 1) in tree
    assert list(tree) == sorted(tree, key=lambda p: (len(p), p))


def test_ranks_that_are_never_right_are_left_out():
    assert greedy_tree([[0.5, 0.0]], 10, 2) == ((0,), (0, 0))


def test_a_sure_first_guess_gives_a_chain():
    assert greedy_tree([[0.9, 0.01]], 4, 4) == ((0,), (0, 0), (0, 0, 0), (0, 0, 0, 0))
    assert greedy_tree([[0.4, 0.35]], 2, 4) == ((0,), (1,))


def test_the_size_follows_the_measured_cost():
    chances = [[0.6, 0.2]]
    free = [1.0] * 9
    assert best_size(chances, free, 3)[0] == 8
    # a jump of the cost behind 3 nodes, as where a tile of the hardware is full
    jagged = [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0]
    assert best_size(chances, jagged, 3)[0] == 3
    dear = [1.0, 3.0, 5.0]
    assert best_size(chances, dear, 3) == (0, 1.0)

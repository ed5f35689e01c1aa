"""Of all trees of a size, the most frequent paths are right most often."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trtspec.tune.rank_tree import best_trees, comb, with_tree
from trtspec.tune.replay import walk
from trtspec.tune.trace import PromptTrace


def ranked(ranks, limit: int | None = None) -> PromptTrace:
    places = len(ranks)
    return PromptTrace(
        prompt_id="p",
        prompt_tokens=3,
        limit=limit or places + 9,
        emitted=places + 1,
        offered=(0,) * places,
        accepted=(0,) * places,
        ranks=tuple(ranks),
    )


def test_a_comb_shows_every_rank_of_every_head():
    assert comb(2, 3) == ((0,), (1,), (0, 0), (0, 1), (0, 0, 0), (0, 0, 1))


def test_the_most_frequent_paths_are_taken():
    trace = ranked([(0, 1), (0, 1), (0, 0), (1, -1), (2, 2), (-1, 0)])
    found = best_trees([trace], [1, 2, 3, 4, 99])
    assert found == {
        1: ((0,),),
        2: ((0,), (0, 1)),
        3: ((0,), (1,), (0, 1)),
        4: ((0,), (1,), (2,), (0, 1)),
    }


def test_of_a_drafter_that_is_never_right_the_likeliest_token_is_left():
    """So that there is something to say of it: nothing is gained."""
    never = ranked([(-1, -1)] * 4)
    assert best_trees([never], [1, 2]) == {1: ((0,),)}
    assert with_tree(never, ((0,),)).accepted == (0, 0, 0, 0)


def test_how_far_a_tree_comes_at_each_place():
    tree = ((0,), (1,), (0, 1))
    ranks = [(0, 1), (0, 0), (1, 1), (2, 0), (-1, 1), (0, -1)]
    assert with_tree(ranked(ranks), tree).accepted == (2, 1, 1, 0, 0, 1)


def test_the_end_of_an_answer_cuts_the_tree():
    found = with_tree(ranked([(0, 1)] * 4, limit=5), ((0,), (1,), (0, 1)))
    assert found.offered == (2, 2, 1, 0)
    assert found.accepted == (2, 2, 1, 0)
    assert found.verified == (3, 3, 2, 0)


rank = st.integers(-1, 1)
rows = st.lists(st.tuples(rank, rank), min_size=1, max_size=12)


def trees(size: int):
    every = [p for depth in (1, 2) for p in product(range(2), repeat=depth)]
    for nodes in combinations(every, size):
        if all(path[:-1] in nodes or len(path) == 1 for path in nodes):
            yield nodes


@settings(deadline=None, max_examples=60)
@given(rows, st.integers(1, 4))
def test_no_tree_of_that_size_has_more_accepted(ranks, size):
    trace = ranked(ranks)
    found = best_trees([trace], [size])
    if size in found:
        tree = found[size]
        assert all(path[:-1] in tree or len(path) == 1 for path in tree)
        most = max(sum(with_tree(trace, t).accepted) for t in trees(size))
        assert sum(with_tree(trace, tree).accepted) == most


def test_it_is_replayed_like_any_trace():
    trace = with_tree(ranked([(0, 0)] * 6), ((0,), (0, 0)))
    assert walk(trace, 2) == [2, 2]
    assert walk(trace, 1) == [pytest.approx(2)] * 3

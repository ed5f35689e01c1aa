"""The window moves on as it should, and the pool keeps the latest n-grams."""

from __future__ import annotations

import pytest

from trtspec.reference.drafters.lookahead_window import NGramPool, Window
from trtspec.reference.tree import ROOT, DraftTree

TEXT = [11, 12, 13]


def hung(window: Window) -> tuple[DraftTree, tuple[int, ...]]:
    tokens: list[int] = []
    parents: list[int] = []
    ends = window.hang(tokens, parents)
    return DraftTree(tuple(tokens), tuple(parents)), ends


def follow(window: Window, pending: int):
    """One step of a target whose best token after x is x + 1."""
    tree, ends = hung(window)
    new = [(pending if end == ROOT else tree.tokens[end]) + 1 for end in ends]
    return list(window.shift(pending, new))


def test_a_full_window_is_a_chain_of_columns():
    window = Window(3, 4, TEXT)
    for _ in range(2):
        assert follow(window, 0) == []
    tree, ends = hung(window)
    #                     column 0    1          2
    assert tree.parents == (ROOT, 0, ROOT, 2, 3, 2, 5, 6)
    assert tree.depths == (1, 2, 1, 2, 3, 2, 3, 4)
    assert ends == (1, 4, 7)


def test_while_columns_grow_others_stand_in_for_them():
    window = Window(3, 4, TEXT)
    tree, ends = hung(window)
    assert tree.parents == (ROOT, 0, 1, 2), "one token before columns of one"
    assert ends == (1, 2, 3)
    follow(window, 0)
    tree, ends = hung(window)
    assert tree.parents == (ROOT, 0, 0, 2, 2, 4), "columns of two"
    assert ends == (1, 3, 5)


@pytest.mark.parametrize("width", [1, 2, 5])
@pytest.mark.parametrize("size", [2, 3, 6])
def test_the_deepest_node_stays_as_far_ahead(width, size):
    window = Window(width, size, TEXT)
    for _ in range(size + 2):
        tree, _ = hung(window)
        assert tree.depth == window.depth == width + size - 3
        follow(window, 0)


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_each_step_of_a_full_window_brings_an_ngram_per_column(width, size):
    window = Window(width, size, TEXT)
    steps = [follow(window, 0) for _ in range(size + 1)]
    assert [len(ngrams) for ngrams in steps] == [0] * (size - 2) + [width] * 3
    for ngram in steps[-1][1:]:
        assert len(ngram) == size
        assert list(ngram) == list(range(ngram[0], ngram[0] + size))


def test_column_0_begins_with_the_pending_token():
    window = Window(2, 3, TEXT)
    follow(window, 0)
    first, _ = follow(window, 70)
    assert first[0] == 70
    assert len(first) == 3


def test_a_column_goes_on_without_its_first_token():
    window = Window(2, 3, TEXT)
    follow(window, 0)
    before, ends = hung(window)
    second = [before.tokens[before.parents[ends[1]]], before.tokens[ends[1]]]
    follow(window, 0)
    after, ends = hung(window)
    assert after.tokens[after.parents[ends[1]]] == second[1]
    assert after.tokens[ends[1]] == second[1] + 1


def test_tokens_not_known_yet_come_from_the_text_and_are_the_same_each_time():
    trees = [hung(Window(5, 4, TEXT))[0] for _ in range(2)]
    assert trees[0] == trees[1]
    assert set(trees[0].tokens) <= set(TEXT)


def test_the_pool_gives_the_latest_first_and_each_once():
    pool = NGramPool(3, 2)
    for ngram in [(1, 2, 3), (1, 4, 5), (2, 9, 9), (1, 2, 3)]:
        pool.add(ngram)
    assert pool.guesses(1) == [(2, 3), (4, 5)]
    pool.add((1, 6, 7))
    assert pool.guesses(1) == [(6, 7), (2, 3)]
    assert pool.guesses(3) == []


def test_the_pool_reads_a_growing_text_once():
    pool = NGramPool(3, 9)
    pool.read([1, 2])
    assert pool.guesses(1) == []
    pool.read([1, 2, 3, 4])
    assert (pool.guesses(1), pool.guesses(2)) == ([(2, 3)], [(3, 4)])
    pool.add((1, 8, 8))
    pool.read([1, 2, 3, 4, 5])
    assert pool.guesses(1)[0] == (8, 8), "the start of the text is not read again"
    assert pool.guesses(3) == [(4, 5)]


def test_a_pool_of_nothing_stays_empty():
    pool = NGramPool(2, 0)
    pool.read([1, 1, 1])
    assert pool.guesses(1) == []

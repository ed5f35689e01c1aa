import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trtspec.verify.distribution.cells import cells_at, coded, indicator, numbered


def test_equal_symbols_have_equal_numbers_wherever_they_stand():
    assert coded([("a", 7), (7, "a")]).tolist() == [[0, 1], [1, 0]]


def test_a_frequent_pair_is_a_cell_of_its_own():
    codes = coded([("a", "x")] * 3 + [("b", "x")] * 3 + [("a", "y")] * 3)
    cells = cells_at(codes, 1, least=3)
    assert len(set(cells.tolist())) == 3


def test_rare_pairs_with_a_frequent_token_share_its_cell():
    codes = coded([("a", "x")] * 3 + [(i, "x") for i in range(3)])
    first, second = np.split(cells_at(codes, 1, least=3), 2)
    assert len(set(first)) == len(set(second)) == 1
    assert first[0] != second[0]


def test_what_is_rare_in_every_way_is_one_cell():
    codes = coded([("a", "x")] * 3 + [(i, i + 100) for i in range(4)])
    cells = cells_at(codes, 1, least=3)
    assert len(set(cells[3:].tolist())) == 1
    assert cells[0] not in cells[3:]


answers = st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=2, max_size=60)


@given(answers, st.integers(1, 12), st.integers(1, 2), st.randoms())
def test_cells_do_not_depend_on_the_order_of_the_answers(found, least, place, random):
    """Else a permutation test over them would not be exact."""
    order = list(range(len(found)))
    random.shuffle(order)
    cells = cells_at(coded(found), place, least)
    again = cells_at(coded([found[i] for i in order]), place, least)
    together = {(cells[i], cell) for i, cell in zip(order, again, strict=True)}
    assert len(together) == len(set(cells)) == len(set(again))


@given(answers, st.integers(1, 12))
def test_at_most_one_cell_is_smaller_than_wanted(found, least):
    cells = cells_at(coded(found), 1, least)
    assert (np.bincount(cells) < least).sum() <= 1
    assert np.bincount(cells).min() > 0


def test_an_indicator_has_one_1_per_answer():
    cells = numbered("abcab")
    found = indicator(cells)
    assert found.shape == (5, 3)
    assert found.sum(1).tolist() == [1] * 5
    assert found.sum(0).tolist() == [2, 2, 1]

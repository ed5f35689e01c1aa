"""Where answers part, by the most exact thing that is told."""

from hypothesis import given
from hypothesis import strategies as st

from trtspec.verify.arm import Answer
from trtspec.verify.greedy.sequences import Parting, common_way, parting


def answer(tokens=None, text="", pieces=None):
    return Answer("p", tokens, text, pieces=pieces)


def test_token_ids_go_before_texts():
    ids = answer((1, 2), "ab", ("a", "b"))
    assert common_way([ids, ids]) == "token ids"
    assert common_way([ids, answer(None, "ab", ("a", "b"))]) == "texts of tokens"
    assert common_way([ids, answer(None, "ab")]) == "text"


def test_equal_texts_may_hide_unequal_ids():
    one, other = answer((1, 2), "ab"), answer((3,), "ab")
    assert parting(one, other, "token ids") == Parting(0, 1, 3)
    assert parting(one, other, "text") is None


def test_one_that_ends_earlier_parts_there():
    assert parting(answer((1, 2)), answer((1,)), "token ids") == Parting(1, 2, None)
    assert parting(answer((1,)), answer((1, 2)), "token ids") == Parting(1, None, 2)


def test_texts_part_at_a_character():
    assert parting(answer(text="abcd"), answer(text="abxd"), "text") == Parting(
        2, "c", "x"
    )


ids = st.lists(st.integers(0, 3), max_size=8).map(tuple)


@given(ids, ids)
def test_what_stands_before_is_shared_and_what_stands_there_is_not(one, other):
    found = parting(answer(one), answer(other), "token ids")
    if found is None:
        assert one == other
        return
    place = found.position
    assert one[:place] == other[:place]
    assert one[place : place + 1] != other[place : place + 1]

"""Ids are written as ranges, tokens shortened."""

import pytest

from trtspec.check.id_text import examples, ranges, shown
from trtspec.models.vocabulary import compare_vocabularies


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        ([7], "ids 7"),
        ([7, 8, 9], "ids 7 to 9"),
        ([1, 2, 9], "ids 1 to 2 and 9"),
        ([1, 3, 5, 6], "ids 1, 3 and 5 to 6"),
        (range(0, 20, 2), "ids 0, 2, 4, 6, 8, 10 and 4 more such places"),
    ],
)
def test_ids_that_follow_one_another_are_one_range(ids, text):
    assert ranges(list(ids)) == text


@pytest.mark.parametrize(
    ("token", "text"),
    [(None, "nothing"), ("a b", "'a b'"), ("x" * 40, "'" + "x" * 19 + "...'")],
)
def test_tokens_are_quoted_and_shortened(token, text):
    assert shown(token) == text


def test_examples_of_several_kinds_are_in_the_order_of_their_ids():
    match = compare_vocabularies({"a": 0, "x": 5}, {"a": 0, "y": 3})
    assert examples(match, "only_ours", "only_theirs") == (
        "3 is nothing in the target, 'y' in the draft; "
        "5 is 'x' in the target, nothing in the draft"
    )

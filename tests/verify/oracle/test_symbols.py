"""Which tokens count as the same, and where an answer stops being known."""

import numpy as np
import pytest

from trtspec.verify.arm import Answer
from trtspec.verify.oracle.symbols import symbols_by_id, symbols_by_text

TEXTS = ["<s>", "</s>", "a", "\ufffd", "\ufffd", " b"]


def answer(tokens=None, pieces=None, finish="length"):
    return Answer("p", tokens, "", finish, pieces=pieces)


def test_ids_are_their_own_symbols_and_ends_are_one():
    known = symbols_by_id(6, {1, 5})
    assert known.read(answer((2, 3, 4)), 2) == (2, 3)
    assert known.read(answer((2, 1, 3)), 3) == (2, known.end)
    assert known.read(answer((5,)), 3) == (known.end,)
    assert known.path((2, 3)) == (2, 3)
    assert known.path((2, known.end)) is None


def test_an_end_that_an_engine_leaves_out_is_added():
    known = symbols_by_id(6, {1})
    assert known.read(answer((2,), finish="stop"), 3) == (2, known.end)
    assert known.read(answer((2, 1), finish="stop"), 3) == (2, known.end)
    assert known.read(answer((2,), finish="length"), 3) == (2,)
    assert known.read(answer((2, 3, 4), finish="stop"), 3) == (2, 3, 4)


def test_probabilities_of_one_symbol_are_added():
    p = np.array([0.1, 0.2, 0.3, 0.1, 0.2, 0.1])
    by_id = symbols_by_id(6, {0, 1}).folded(p)
    assert by_id[-1] == pytest.approx(0.3)
    by_text = symbols_by_text(TEXTS, {1})
    symbol = by_text.by_text["\ufffd"]
    assert by_text.folded(p)[symbol] == pytest.approx(0.3)
    assert by_text.folded(p).sum() == pytest.approx(1.0)


def test_pieces_of_text_become_symbols_as_far_as_they_are_known():
    known = symbols_by_text(TEXTS, {1})
    symbols = known.read(answer(pieces=("a", "\ufffd", " b")), 3)
    assert known.path(symbols[:1]) == (2,)
    assert known.path(symbols) is None  # which half of a character it was
    assert len(known.read(answer(pieces=("a", "z", "a")), 3)) == 1
    assert known.read(answer(), 3) == ()


def test_padding_behind_the_vocabulary_is_no_harm():
    known = symbols_by_id(6, {1, 99})
    assert known.folded(np.array([0.5, 0.25, 0.25])).sum() == 1.0


def test_a_token_may_be_named_as_it_reads_alone():
    """Tokenizers of some models drop the space before a text's first word."""
    texts, alone = ["x", " x", " y", "\ufffd", "\ufffd"], ["x", "x", "y", "?", "?"]
    known = symbols_by_text(texts, (), alone)
    assert known.path(known.read(answer(pieces=("y", " y", " x")), 3)) == (2, 2, 1)
    assert known.path(known.read(answer(pieces=("x",)), 1)) == (0,)
    assert known.read(answer(pieces=("?",)), 1) == ()


def test_ids_of_a_beginning_are_better_than_none():
    known = symbols_by_text(TEXTS, {1})
    assert known.ids(answer((0, 1))) == (0, 1)
    assert known.ids(answer(pieces=("a", " b", "\ufffd", "a"))) == (2, 5)
    assert known.ids(answer(pieces=("z",))) == ()

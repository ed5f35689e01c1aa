"""Tokens are counted by longest match, near to what a tokenizer gives."""

from collections import Counter

import pytest

from trtspec.models import token_use
from trtspec.models.token_use import most_emitted, share_of, token_counts

BYTES = {"t": 0, "h": 1, "e": 2, "Ġ": 3, "the": 4, "Ġthe": 5, "Ġcat": 6, "1": 7, "!": 8}


def test_the_longest_token_that_matches_is_counted():
    assert token_counts(["the the cat!"], BYTES) == Counter({4: 1, 5: 1, 6: 1, 8: 1})


def test_what_no_token_stands_for_is_left_out():
    assert token_counts(["thez zthe"], BYTES) == Counter({4: 2, 3: 1})
    assert not token_counts(["zzz"], BYTES)


def test_letters_figures_and_signs_are_cut_apart():
    tokens = {"a1": 0, "a": 1, "1": 2, "1!": 3, "!": 4}
    assert token_counts(["a1!"], tokens) == Counter({1: 1, 2: 1, 4: 1})


def test_pieces_begin_a_text_with_a_space():
    tokens = {"▁": 0, "▁a": 1, "a": 2}
    assert token_counts(["a a"], tokens) == Counter({1: 2})


def test_only_so_much_text_is_counted(monkeypatch):
    monkeypatch.setattr(token_use, "_MOST_CHARACTERS", 100)
    counts = token_counts(["a" * 60, "a" * 60, "a"], {"a": 0})
    assert counts[0] == 100


@pytest.mark.parametrize(
    ("ids", "share"), [({4, 5}, 0.75), (set(), 0.0), ({4, 5, 6, 99}, 1.0)]
)
def test_the_share_weighs_tokens_by_how_often_they_occur(ids, share):
    assert share_of({4: 2, 5: 1, 6: 1}, ids) == share


def test_of_no_tokens_there_is_no_share():
    assert share_of({}, {1}) is None


@pytest.mark.parametrize(
    ("acceptance", "length", "tokens"),
    [(1.0, 4, 5.0), (0.0, 4, 1.0), (0.5, 2, 1.75), (0.9, 0, 1.0)],
)
def test_a_chain_ends_at_its_first_rejection(acceptance, length, tokens):
    assert most_emitted(acceptance, length) == pytest.approx(tokens)

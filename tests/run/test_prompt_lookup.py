"""Prompt lookup for many texts: each has its key, and may have its own n-grams."""

from __future__ import annotations

from trtspec.methods import NGram
from trtspec.run.prompt_lookup import PromptLookup

TEXT = (2, 8, 5, 3, 8, 7, 2, 8)
"""Behind 2 8 came 5; behind 8 alone it was 7 last."""


def method(longest):
    return NGram(method="ngram", draft_length=4, max_matching_ngram=longest)


def test_a_requests_own_longest_ngram_replaces_the_recipes():
    lookup = PromptLookup(method(2))
    assert lookup.draft("usual", TEXT, 1, None) == [5]
    assert lookup.draft("own", TEXT, 1, method(1)) == [7]
    assert PromptLookup(method(1)).draft("own", TEXT, 1, method(2)) == [5]


def test_texts_do_not_mix_and_are_forgotten():
    lookup = PromptLookup(method(2))
    assert lookup.draft(0, (7, 8, 9, 7, 8), 2, None) == [9, 7]
    assert lookup.draft(1, (7, 8), 2, None) == []
    lookup.forget(0)
    lookup.forget("never seen")
    assert lookup.draft(0, (1, 7, 8), 2, None) == []


def test_a_text_goes_on_by_another_key():
    lookup = PromptLookup(method(2))
    lookup.draft(0, (1, 2, 1), 2, None)
    lookup.draft(1, (7, 8, 9, 7, 8), 2, None)
    lookup.rename(1, 0)
    assert lookup.draft(0, (7, 8, 9, 7, 8, 9), 2, None) == [7, 8]
    lookup.rename(5, 0)  # a text of which nothing was asked yet
    assert lookup.draft(0, (8, 9), 2, None) == []


def test_nothing_is_looked_up_where_nothing_may_be_proposed():
    assert PromptLookup(method(2)).draft(0, TEXT, 0, None) == []

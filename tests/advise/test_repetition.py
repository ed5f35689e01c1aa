"""How much could be copied: counted by hand, and against a plain search."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trtspec.advise.repetition import copied, copied_share


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        ("abcd", "abcd", (1, 4)),  # only d has abc in front of it, seen before
        ("abcdx", "abcdx", (2, 5)),
        ("", "abcabcabc", (3, 6)),  # from the second c on, every token
        ("abcd", "wxyz", (0, 4)),
        ("abcd abce", "abce", (1, 4)),  # what followed last counts: e, not d
        ("abce abcd", "abce", (0, 4)),
        ("", "ab", (0, 0)),
    ],
)
def test_copied_tokens_are_counted(before, text, expected):
    assert copied(list(before), list(text)) == expected


@given(st.text("ab", max_size=12), st.text("ab", max_size=20), st.integers(1, 4))
@settings(max_examples=200, deadline=None)
def test_counting_agrees_with_a_plain_search(before, text, n):
    whole, hits, asked = before + text, 0, 0
    for place in range(max(n, len(before)), len(whole)):
        asked += 1
        found = whole.rfind(whole[place - n : place], 0, place - 1)
        hits += found >= 0 and whole[found + n] == whole[place]
    assert copied(before, text, n) == (hits, asked)


def test_the_share_is_over_all_texts_together():
    share = copied_share([("abcd", "abcd"), ("abcd", "wxyz")])
    assert share == pytest.approx(1 / 8)


def test_without_any_tokens_there_is_no_share():
    assert copied_share([]) is None
    assert copied_share([("", "ab")]) is None

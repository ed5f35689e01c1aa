"""Whatever a server says can be written to a file and shown on a terminal."""

from __future__ import annotations

import pytest

from trtspec.bench.http.words import message_in, plain, whole


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("plain", "plain"),
        ("größer \u2028 \U0001f600", "größer \u2028 \U0001f600"),
        ("\ud83d\ude00", "\U0001f600"),  # two halves, as two events bring them
        ("a\ud83d", "a\ufffd"),
        ("\ude00b", "\ufffdb"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("", ""),
    ],
)
def test_halves_of_a_pair_are_put_together_or_replaced(text, kept):
    assert whole(text) == kept
    whole(text).encode()


def test_what_moves_the_cursor_is_shown_in_place_of_being_obeyed():
    assert plain("a\x1b[2Jb\r\x07 \u202ec") == r"a\x1b[2Jb\r\x07 \u202ec"
    assert plain("two\nlines\tof größe 😀 [red]") == "two\nlines\tof größe 😀 [red]"
    assert plain("\ud83d").isprintable()


def test_an_error_that_is_nested_without_end_is_still_told():
    nested: object = "deep"
    for _ in range(100_000):
        nested = {"error": nested}
    assert "too deep" in message_in(nested)
    assert message_in({"error": {"message": "no memory"}}) == "no memory"

"""Text files: decoding with line numbers, quoting in messages, reasons of failure."""

import errno

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtspec.errors import Problem
from trtspec.recipe.text import decode, shown, unreadable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abc", "abc"),
        ("", '""'),
        ("a\nb", '"a\\nb"'),
        ("\x1b[31m", '"\\u001b[31m"'),
        ("café", "café"),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 57 + "..."),
    ],
)
def test_shown_is_short_and_in_one_line(text, expected):
    assert shown(text) == expected


def test_shown_keeps_the_quotes_of_the_file():
    assert shown("8", quoted=True) == '"8"'


@given(st.text())
def test_shown_never_reaches_the_terminal_with_control_characters(text):
    assert shown(text).isprintable()
    assert shown(text, quoted=True).isprintable()


@given(st.text())
def test_utf8_is_decoded(text):
    assert decode(text.encode(), "f", 2) == text


def test_byte_order_mark_is_dropped_in_the_first_line_only():
    assert decode(b"\xef\xbb\xbfa", "f") == "a"
    assert decode(b"\xef\xbb\xbfa", "f", 2) == "\ufeffa"


@pytest.mark.parametrize(
    ("data", "first_line", "where"),
    [
        (b"\xff", 1, "f:1"),
        (b"a\nb\nc\xe9", 1, "f:3"),
        (b"a\r\nb\xe9", 1, "f:2"),
        (b"\xef\xbb\xbfa\nb\xe9", 1, "f:2"),
        (b"ab\xe9", 7, "f:7"),
        (b"a\n\xc3", 1, "f:2"),
    ],
)
def test_other_encodings_give_the_line_of_the_byte(data, first_line, where):
    problem = decode(data, "f", first_line)
    assert isinstance(problem, Problem)
    assert problem.where == where
    assert "is not UTF-8" in problem.what


def test_problem_quotes_what_precedes_the_byte():
    problem = decode(b"eins\nzwei caf\xe9", "f")
    assert problem.what == 'the byte 0xe9 after "zwei caf" is not UTF-8'


def test_utf16_is_named():
    problem = decode("schema: x".encode("utf-16"), "f")
    assert problem == Problem(
        "the file is UTF-16 text", "f:1", "UTF-8 text", "save the file as UTF-8"
    )


@pytest.mark.parametrize(
    ("code", "what", "action"),
    [
        (errno.ENOENT, "the recipe does not exist", "look there"),
        (errno.EISDIR, "the recipe is a directory, not a file", "look there"),
        (errno.EIO, "the recipe cannot be read: Input/output error", "look there"),
        (
            errno.EACCES,
            "the recipe cannot be read: Permission denied",
            "give this user the right to read it (chmod u+r)",
        ),
    ],
)
def test_reasons_of_the_file_system_are_said_in_words(code, what, action):
    import os

    error = OSError(code, os.strerror(code))
    assert unreadable(error, "the recipe", "f", "look there") == Problem(
        what, "f", action=action
    )

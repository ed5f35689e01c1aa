"""What a YAML syntax error means, in words that need no YAML standard."""

from __future__ import annotations

from typing import NamedTuple

import yaml
from yaml.reader import ReaderError

from trtspec.errors import Problem
from trtspec.recipe.text import shown


class _Fault(NamedTuple):
    sign: str
    """Part of PyYAML's message that identifies the fault."""
    what: str
    action: str
    from_context: bool = False
    """Whether the fault is where the construct begins, not where it became apparent."""


_FAULTS = (
    _Fault("'\\t' that cannot start", "a tab in the indentation", "indent with spaces"),
    _Fault(
        "that cannot start any token",
        "text begins with a character that YAML reserves",
        "put quotes around the text",
    ),
    _Fault(
        "mapping values are not allowed",
        "a second colon in the line, or wrong indentation",
        "put quotes around text with a colon in it, or align the key with the others",
    ),
    _Fault(
        "could not find expected ':'",
        "a key without a colon",
        "write key: value, with a space after the colon",
        from_context=True,
    ),
    _Fault(
        "found unexpected end of stream",
        "a quotation mark without its partner",
        "close the quotation",
        from_context=True,
    ),
    _Fault(
        "found unexpected document separator",
        "a quotation mark without its partner",
        "close the quotation",
        from_context=True,
    ),
    _Fault(
        "expected alphabetic or numeric",
        "* and & are reserved for aliases and anchors",
        "put quotes around the text",
    ),
    _Fault(
        "found unknown escape character",
        "a backslash in double quotes begins an unknown escape",
        "use single quotes, or write the backslash twice",
    ),
    _Fault(
        "sequence entries are not allowed",
        "a list entry (-) where none can stand",
        "put each entry in a line of its own, below its key",
    ),
    _Fault(
        "expected <block end>",
        "the indentation does not fit the lines above",
        "align the key with the others of its section",
    ),
    _Fault(
        "expected ',' or ']'",
        "a list ([) that is not closed",
        "close it, as in [1, 4]",
        from_context=True,
    ),
    _Fault(
        "expected ',' or '}'",
        "a map ({) that is not closed",
        "close it, as in {8: 4, 32: 2}",
        from_context=True,
    ),
    _Fault(
        "found undefined alias",
        "an alias (*) without its anchor (&)",
        "put quotes around the text, or define the anchor above",
    ),
    _Fault(
        "found another document",
        "a second document begins here",
        "keep one recipe in a file: delete this line (---) and what follows",
    ),
    _Fault(
        "second occurrence", "an anchor (&) is defined twice", "give it another name"
    ),
    _Fault("nested deeper", "", "remove what is no part of a recipe"),
)


def syntax_problem(error: yaml.MarkedYAMLError, text: str, source: str) -> Problem:
    """Say what is wrong with text that is not one YAML document, and in which line."""
    message = error.problem or error.context or "the text cannot be read"
    fault = next((f for f in _FAULTS if f.sign in message), _Fault("", message, ""))
    marks = [error.context_mark, error.problem_mark]
    mark = next(m for m in (marks if fault.from_context else marks[::-1]) if m)
    line = min(mark.line + 1, len(text.splitlines()))
    return Problem(
        f"not valid YAML: {fault.what or message}, in: {_line(text, line)}",
        f"{source}:{line}",
        action=fault.action,
    )


def unreadable_problem(error: ReaderError, text: str, source: str) -> Problem:
    """Say which character YAML does not allow, and in which line."""
    line = text.count("\n", 0, error.position) + 1
    code = ord(text[error.position])
    name = "a NUL byte" if code == 0 else f"the control character U+{code:04X}"
    return Problem(
        f"{name} stands in the text",
        f"{source}:{line}",
        "printable characters, tabs and line ends",
        "delete it; the file may be damaged or no text file",
    )


def _line(text: str, number: int) -> str:
    lines = text.splitlines()
    return shown(lines[number - 1].strip()) if lines else '""'

"""What the entries of a prompts file are: its lines, or members of one JSON list."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from trtspec.errors import Problem
from trtspec.recipe.layout_parts import LAYOUTS
from trtspec.recipe.text import decode, shown

_BLANKS = " \t\n\r"
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Entry:
    """One JSON object of a file.

    :param number: of its line; in a list, which member it is.
    :param place: how a message names it.
    :param where: file and line.
    """

    number: int
    place: str
    where: str
    value: Mapping[str, object]


class Entries:
    """Reads the entries of one file.

    :param source: names the file in problems.
    :ivar lines: lines read so far.
    :ivar is_list: whether the file is one JSON list.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self.lines = 0
        self.is_list = False

    def read(self, stream: Iterable[bytes]) -> Iterator[Entry | Problem]:
        """Give each entry, or what is wrong with it; blank lines are skipped."""
        lines = iter(stream)
        started = False
        for data in lines:
            self.lines += 1
            text = decode(data, self._source, self.lines)
            if isinstance(text, Problem):
                started = True
                yield text
            elif stripped := text.strip():
                if not started and stripped.startswith("["):
                    self.is_list = True
                    yield from self._list(data + b"".join(lines))
                    return
                started = True
                yield self._line(stripped)

    def _line(self, text: str) -> Entry | Problem:
        where = f"{self._source}:{self.lines}"
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            return _not_json(error, text, where)
        if not isinstance(value, dict):
            what = f"the line is no JSON object, but: {shown(text)}"
            return Problem(what, where, LAYOUTS)
        return Entry(self.lines, f"line {self.lines}", where, value)

    def _list(self, data: bytes) -> Iterator[Entry | Problem]:
        """Read a whole file that is one list; what is no JSON ends the reading."""
        text = decode(data, self._source, self.lines)
        if isinstance(text, Problem):
            yield text
            return
        at = _skip(text, 0) + 1
        line, counted, number = self.lines, 0, 0
        at = _skip(text, at)
        if text[at : at + 1] == "]":
            yield from self._rest(text, at + 1)
            return
        while True:
            at = _skip(text, at)
            line, counted = line + text.count("\n", counted, at), at
            where, number = f"{self._source}:{line}", number + 1
            try:
                value, at = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError) as error:
                yield _bad_member(error, number, where)
                return
            yield _member(value, number, where)
            at = _skip(text, at)
            if text[at : at + 1] != ",":
                yield from self._end(text, at, number)
                return
            at += 1

    def _end(self, text: str, at: int, number: int) -> Iterator[Problem]:
        if text[at : at + 1] == "]":
            yield from self._rest(text, at + 1)
        else:
            what = f"not valid JSON: neither a comma nor ] after member {number}"
            yield Problem(what, self._at(text, at), "one JSON list of prompts")

    def _rest(self, text: str, at: int) -> Iterator[Problem]:
        if left := text[at:].strip():
            what = f"there is more behind the list: {shown(left)}"
            yield Problem(what, self._at(text, _skip(text, at)), "one JSON list")

    def _at(self, text: str, place: int) -> str:
        return f"{self._source}:{self.lines + text.count(chr(10), 0, place)}"


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANKS:
        at += 1
    return at


def _member(value: object, number: int, where: str) -> Entry | Problem:
    place = f"member {number}"
    if not isinstance(value, dict):
        what = f"{place} of the list is no JSON object, but: {shown(json.dumps(value))}"
        return Problem(what, where, LAYOUTS)
    return Entry(number, place, where, value)


def _bad_member(error: Exception, number: int, where: str) -> Problem:
    reason = (
        error.msg if isinstance(error, json.JSONDecodeError) else "it cannot be read"
    )
    return Problem(
        f"member {number} of the list is not valid JSON: {reason}",
        where,
        f"one JSON list of prompts: {LAYOUTS}",
    )


def _not_json(error: Exception, text: str, where: str) -> Problem:
    reason, place = "it cannot be read", ""
    if isinstance(error, json.JSONDecodeError):
        reason, place = error.msg, f" at column {error.colno}"
    in_list = text.startswith("[")
    return Problem(
        f"not valid JSON: {reason}{place}, in: {shown(text)}",
        where,
        f"one JSON object per line: {LAYOUTS}",
        "write each prompt in a line of its own, without [ ]" if in_list else "",
    )

"""Which values a type of the LLM API's YAML takes.

A type is written as alternatives with ``|`` between them::

    null | bool | int | float | str | any | object | python
    'literal' | list[T] | set[T] | map[K,V] | ClassName

``object`` is a map whose keys the facts do not describe, ``ClassName`` one whose keys
they do, ``any`` is not established, and ``python`` cannot be written in YAML. A bool is
no int, and an int is a float.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

_TOKEN = re.compile(r"\s*('[^']*'|[A-Za-z]\w*|[\[\]|,])")
_SEQUENCES = ("list", "set")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_SCALARS: dict[str, Callable[[object], bool]] = {
    "null": lambda value: value is None,
    "bool": lambda value: isinstance(value, bool),
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "float": _is_number,
    "str": lambda value: isinstance(value, str),
    "any": lambda value: True,
    "object": lambda value: isinstance(value, Mapping),
    "python": lambda value: False,
}


@dataclass(frozen=True, slots=True)
class ValueType:
    """One alternative of a type.

    :ivar name: a scalar's name, ``list``, ``set``, ``map``, a class, or a 'literal'
        in its quotes.
    :ivar of: the types of its elements; those of keys and values for a map.
    """

    name: str
    of: tuple[tuple[ValueType, ...], ...] = ()

    @property
    def is_class(self) -> bool:
        """Whether it is a map that the facts describe."""
        return self.name[0].isupper()

    def __str__(self) -> str:
        if not self.of:
            return self.name
        return f"{self.name}[{','.join(map(spelled, self.of))}]"

    def takes(self, value: object) -> bool:
        """Whether a value, as YAML gives it, is of this type."""
        if self.name.startswith("'"):
            return isinstance(value, str) and value == self.name[1:-1]
        if self.name in _SEQUENCES:
            listed = isinstance(value, (list, tuple, set, frozenset))
            return listed and all(takes(self.of[0], each) for each in _items(value))
        if self.name == "map":
            return isinstance(value, Mapping) and all(
                takes(self.of[0], key) and takes(self.of[1], held)
                for key, held in value.items()
            )
        if self.is_class:
            return isinstance(value, Mapping)
        return _SCALARS[self.name](value)


def _items(value: Any) -> Iterator[object]:
    yield from value


def spelled(alternatives: tuple[ValueType, ...]) -> str:
    """Write a type in its grammar."""
    return "|".join(map(str, alternatives))


def takes(alternatives: tuple[ValueType, ...], value: object) -> bool:
    """Whether one of the alternatives takes a value."""
    return any(each.takes(value) for each in alternatives)


@cache
def parse_type(text: str) -> tuple[ValueType, ...]:
    """Read a type.

    :raises ValueError: it does not follow the grammar.
    """
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != re.sub(r"\s", "", text) or not tokens:
        raise ValueError(f"{text!r} is not a type")
    try:
        found, rest = _alternatives(tuple(tokens))
    except (IndexError, KeyError):
        raise ValueError(f"{text!r} is not a type") from None
    if rest:
        raise ValueError(f"{text!r} is not a type: {''.join(rest)!r} is left over")
    return found


_Tokens = tuple[str, ...]


def _alternatives(tokens: _Tokens) -> tuple[tuple[ValueType, ...], _Tokens]:
    found, rest = _one(tokens)
    if rest and rest[0] == "|":
        more, rest = _alternatives(rest[1:])
        return (found, *more), rest
    return (found,), rest


def _one(tokens: _Tokens) -> tuple[ValueType, _Tokens]:
    name, rest = tokens[0], tokens[1:]
    held = {"list": 1, "set": 1, "map": 2}.get(name, 0)
    if not held:
        if not (name in _SCALARS or name[0] == "'" or name[0].isupper()):
            raise KeyError(name)
        return ValueType(name), rest
    of = []
    for opening in "[,"[:held]:
        if rest[0] != opening:
            raise KeyError(rest[0])
        element, rest = _alternatives(rest[1:])
        of.append(element)
    if rest[0] != "]":
        raise KeyError(rest[0])
    return ValueType(name, tuple(of)), rest[1:]


def class_in(text: str) -> str:
    """The class whose keys are under a key of this type; empty if there is none."""
    return next((each.name for each in parse_type(text) if each.is_class), "")

"""Why a key does not take a value, in words that follow the key's name.

"max_draft_len" + "is '8', which is not a whole number": a predicate, so that it reads
as well after "it".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trtspec.trtllm.facts.types import ValueType, parse_type, takes

_WORDS = {
    "null": ("null", "nulls"),
    "bool": ("true or false", "switches"),
    "int": ("a whole number", "whole numbers"),
    "float": ("a number", "numbers"),
    "str": ("a text", "texts"),
    "any": ("anything", "anything"),
    "object": ("a map", "maps"),
    "python": ("a Python object", "Python objects"),
}
"""Scalar type → one of it, and several."""
_AS_YAML = {None: "null", True: "true", False: "false"}


def in_words(text: str) -> str:
    """Say in words what a type takes: "a whole number or null" for ``int|null``.

    :param text: in the grammar of ``trtspec.trtllm.facts.types``.
    """
    return _one_of(parse_type(text))


def type_fault(text: str, value: object) -> str:
    """Say why a type does not take a value; empty if it does.

    What is inside a map of a described class is not looked at.

    :returns: a predicate that follows the key's name.
    """
    alternatives = parse_type(text)
    if takes(alternatives, value):
        return ""
    if all(each.name in ("python", "null") for each in alternatives):
        return f"is {_shown(value)}, but YAML cannot hold it: it is a Python object"
    # of a text that should be one of several words, only the words are of interest
    words = tuple(each for each in alternatives if each.name.startswith("'"))
    wanted = words if words and isinstance(value, str) else alternatives
    return f"is {_shown(value)}, which is not {_one_of(wanted)}"


def limit_fault(
    value: object,
    least: float | None,
    most: float | None,
    above: float | None,
) -> str:
    """Say why a number, or one in a list, lies outside its limits; empty if not.

    :param least: the smallest that is allowed.
    :param most: the largest that is allowed.
    :param above: what it has to exceed.
    :returns: a predicate that follows the key's name.
    """
    listed = isinstance(value, (list, tuple, set, frozenset))
    for number in _items(value) if listed else (value,):
        if not isinstance(number, (int, float)) or isinstance(number, bool):
            continue
        if why := _outside(number, least, most, above):
            return f"{'holds' if listed else 'is'} {number}, which is {why}"
    return ""


def _outside(
    number: float, least: float | None, most: float | None, above: float | None
) -> str:
    # not(a >= b), because a comparison with NaN is false
    if least is not None and not number >= least:
        return f"below {least:g}"
    if most is not None and not number <= most:
        return f"above {most:g}"
    if above is not None and not number > above:
        return f"not above {above:g}"
    return ""


def _items(value: Any) -> Iterable[object]:
    yield from value


def _shown(value: object) -> str:
    is_word = value is None or isinstance(value, bool)
    return _AS_YAML[value] if is_word else repr(value)  # type: ignore[index]


def _one_of(alternatives: tuple[ValueType, ...]) -> str:
    literals = [each.name[1:-1] for each in alternatives if each.name[0] == "'"]
    chosen = [literals[0]] if len(literals) == 1 else []
    chosen += [f"one of {', '.join(literals)}"] if len(literals) > 1 else []
    others = [_one(each) for each in alternatives if each.name[0] != "'"]
    return " or ".join(chosen + others)


def _one(kind: ValueType) -> str:
    if kind.of:
        return f"a {'map' if kind.name == 'map' else 'list'} of {_held(kind)}"
    return _WORDS["object" if kind.is_class else kind.name][0]


def _several(alternatives: tuple[ValueType, ...]) -> str:
    return " or ".join(map(_some, alternatives))


def _some(kind: ValueType) -> str:
    if kind.of:
        return f"{'maps' if kind.name == 'map' else 'lists'} of {_held(kind)}"
    if kind.name.startswith("'"):
        return kind.name[1:-1]
    return _WORDS["object" if kind.is_class else kind.name][1]


def _held(kind: ValueType) -> str:
    return " to ".join(map(_several, kind.of))

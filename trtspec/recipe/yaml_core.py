"""How YAML is read so that a word means what it says: the core schema of YAML 1.2.

PyYAML follows YAML 1.1, where on, off, yes and no are booleans, 1:30 is 90, 012 is 10
and 2024-01-01 is a date. Here only true and false are booleans, 012 is 12 and the
rest are strings (https://yaml.org/spec/1.2.2/#103-core-schema).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml

from trtspec.errors import Problem

Scalar = str | int | float | bool | None

MAX_DEPTH = 32
"""Deepest nesting that is read; a recipe nests three deep."""

_TAG = "tag:yaml.org,2002:"
_LONGEST_NUMBER = 1000
_UNUSABLE = re.compile(r"[\x00\ud800-\udfff]")
_PATTERNS = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    "float": (
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
}


class NotPlainYamlError(Exception):
    """The file is YAML, but uses a feature that a recipe cannot have."""

    def __init__(self, what: str, node: yaml.Node, action: str = "") -> None:
        super().__init__(what)
        self.line = node.start_mark.line + 1
        self.what = what
        self.action = action

    def problem(self, source: str) -> Problem:
        """Give the problem with the file's name."""
        return Problem(self.what, f"{source}:{self.line}", action=self.action)


class CoreLoader(yaml.SafeLoader):
    """Composes nodes whose tags follow YAML 1.2; nesting is bounded."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012 - as PyYAML has it
    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Compose one node; overrides PyYAML's to stop before the stack overflows."""
        if self.depth > MAX_DEPTH:
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(
                problem=f"nested deeper than {MAX_DEPTH} levels", problem_mark=mark
            )
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


# int stands before float: the first pattern that matches decides
for _name, (_pattern, _first) in _PATTERNS.items():
    CoreLoader.add_implicit_resolver(
        _TAG + _name, re.compile(rf"(?:{_pattern})\Z"), _first
    )


def reads_as_text(text: str) -> bool:
    """Tell whether a word without quotes is a string in YAML 1.2."""
    resolvers = CoreLoader.yaml_implicit_resolvers.get(text[:1], [])
    return not any(pattern.match(text) for _, pattern in resolvers)


def is_merge_key(node: yaml.Node) -> bool:
    """Tell whether a key is the ``<<`` that takes over another map's entries."""
    return isinstance(node, yaml.ScalarNode) and not node.style and node.value == "<<"


def read_scalar(node: yaml.ScalarNode) -> Scalar:
    """Turn a scalar node into its value.

    :raises NotPlainYamlError: for a tag beyond YAML 1.2's core schema, or a value
        that does not fit its tag.
    """
    kind = node.tag.removeprefix(_TAG)
    text: str = node.value
    if _UNUSABLE.search(text):
        raise NotPlainYamlError(
            "the text has a NUL character or half a surrogate pair in it",
            node,
            "delete the escape (a backslash with digits)",
        )
    if kind == "str":
        return text
    pattern = _PATTERNS.get(kind, ("", []))[0]
    if not re.fullmatch(pattern, text) or kind not in _PATTERNS:
        raise NotPlainYamlError(
            f"the tag {node.tag.replace(_TAG, '!!')} cannot be used here",
            node,
            "delete the tag; put quotes around text",
        )
    return _READERS[kind](text)


def _read_int(text: str) -> int | str:
    if len(text) > _LONGEST_NUMBER:
        return text
    base = {"0o": 8, "0x": 16}.get(text[:2], 10)
    return int(text, base)


def _read_float(text: str) -> float:
    special = text.lower().replace(".inf", "inf").replace(".nan", "nan")
    return float(special)


_READERS: dict[str, Callable[[str], Scalar]] = {
    "null": lambda _: None,
    "bool": lambda text: text.lower() == "true",
    "int": _read_int,
    "float": _read_float,
}

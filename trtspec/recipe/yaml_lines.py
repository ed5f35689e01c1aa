"""What a YAML file says, and in which line it says it.

Scalars follow the core schema of YAML 1.2: only true and false are booleans, and
on, off, yes, no, dates and 1:30 are strings. PyYAML alone would read YAML 1.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.reader import ReaderError

from trtspec.errors import Problem, RecipeError
from trtspec.recipe.text import shown
from trtspec.recipe.yaml_core import (
    MAX_DEPTH,
    CoreLoader,
    NotPlainYamlError,
    is_merge_key,
    read_scalar,
)
from trtspec.recipe.yaml_syntax import syntax_problem, unreadable_problem

MAX_VALUES = 10_000
"""Most values after aliases are written out; a recipe has about thirty."""

Key = str | int
KeyPath = tuple[Key, ...]
_Entry = tuple[yaml.Node, yaml.Node]


@dataclass(frozen=True)
class YamlDocument:
    """A YAML document as plain values, with the place of each.

    :param value: dicts, lists and scalars; None for an empty document.
    :param lines: line (from 1) of each key or list item, by path; ``()`` is the root.
    :param written: scalars as they stand in the file, quotes included, by path.
    :param problems: faults that do not keep the rest from being read.
    """

    value: object
    lines: dict[KeyPath, int]
    written: dict[KeyPath, str]
    problems: list[Problem]

    def at(self, path: KeyPath) -> object:
        """Give the value of a key that the document has."""
        value: Any = self.value
        for key in path:
            value = value[key]
        return value

    def line(self, path: KeyPath) -> int:
        """Line of a key; of the nearest key around it if it is not in the file."""
        return nearest_line(self.lines, path)


def nearest_line(lines: Mapping[KeyPath, int], path: KeyPath) -> int:
    """Give the line of a key, or of the nearest key around it that has one."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


def parse_yaml(text: str, source: str) -> YamlDocument:
    """Read one YAML document.

    :param source: names the file in errors.
    :raises RecipeError: with file and line, for text that is not one YAML document,
        or that nests or expands beyond what a recipe can need.
    """
    try:
        root = CoreLoader(text).get_single_node()
    except ReaderError as error:
        problem = unreadable_problem(error, text, source)
        raise RecipeError.from_problems([problem]) from None
    except yaml.MarkedYAMLError as error:
        problem = syntax_problem(error, text, source)
        raise RecipeError.from_problems([problem]) from None
    reading = _Reading(source)
    try:
        value = None if root is None else reading.value(root, ())
    except NotPlainYamlError as error:
        raise RecipeError.from_problems([error.problem(source)]) from None
    return YamlDocument(value, reading.lines, reading.written, reading.problems)


def dotted(path: KeyPath) -> str:
    """Give the name of a key path: ``("limits", "top_k")`` is ``limits.top_k``."""
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{shown(str(key))}"
    return text.removeprefix(".")


@dataclass
class _Reading:
    """Turns the node graph of one file into values, aliases written out."""

    source: str
    lines: dict[KeyPath, int] = field(default_factory=dict)
    written: dict[KeyPath, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    values: int = 0
    open_nodes: set[int] = field(default_factory=set)

    def value(self, node: yaml.Node, path: KeyPath) -> object:
        """Read a node and all below it."""
        self.lines.setdefault(path, node.start_mark.line + 1)
        self._count(node)
        if isinstance(node, yaml.ScalarNode):
            self.written[path] = shown(node.value, quoted=node.style is not None)
            return read_scalar(node)
        with self._open(node):
            if isinstance(node, yaml.SequenceNode):
                return [self.value(n, (*path, i)) for i, n in enumerate(node.value)]
            return self._mapping(node, path)

    def _mapping(self, node: yaml.Node, path: KeyPath) -> dict[Key, object]:
        result: dict[Key, object] = {}
        for key, (key_node, value_node) in self._entries(node, path).items():
            self.lines[(*path, key)] = key_node.start_mark.line + 1
            result[key] = self.value(value_node, (*path, key))
        return result

    def _entries(self, node: yaml.Node, path: KeyPath) -> dict[Key, _Entry]:
        """Give a map's entries by key, then those that merge keys (<<) bring."""
        entries: dict[Key, _Entry] = {}
        merged: list[yaml.Node] = []
        for key_node, value_node in node.value:
            self._count(key_node)
            if is_merge_key(key_node):
                merged.append(value_node)
            elif (key := self._key(key_node)) in entries:
                self._duplicate((*path, key), key_node, entries[key][0])
            else:
                entries[key] = (key_node, value_node)
        for source in merged:
            for key, entry in self._merged(source, path).items():
                entries.setdefault(key, entry)
        return entries

    def _merged(self, node: yaml.Node, path: KeyPath) -> dict[Key, _Entry]:
        maps = node.value if isinstance(node, yaml.SequenceNode) else [node]
        entries: dict[Key, _Entry] = {}
        for source in maps:
            if not isinstance(source, yaml.MappingNode):
                raise NotPlainYamlError("a merge key (<<) needs a map", source)
            with self._open(source):
                entries = self._entries(source, path) | entries
        return entries

    def _key(self, node: yaml.Node) -> Key:
        key = read_scalar(node) if isinstance(node, yaml.ScalarNode) else None
        if isinstance(key, bool) or not isinstance(key, str | int):
            name = shown(node.value) if isinstance(node.value, str) else "of this map"
            raise NotPlainYamlError(
                f"the key {name} is neither a word nor a whole number", node
            )
        # pydantic names the place of an error with numbers of 64 bits at most
        return node.value if isinstance(key, int) and abs(key) >= 2**63 else key

    def _duplicate(self, path: KeyPath, node: yaml.Node, first: yaml.Node) -> None:
        first_line = first.start_mark.line + 1
        self.problems.append(
            Problem(
                f"{dotted(path)} is given a second time",
                f"{self.source}:{node.start_mark.line + 1}",
                action=f"keep one of the two; the first is in line {first_line}",
            )
        )

    def _count(self, node: yaml.Node) -> None:
        self.values += 1
        if self.values > MAX_VALUES:
            raise NotPlainYamlError(
                f"more than {MAX_VALUES:,} keys and values, aliases written out",
                node,
                "remove what is no part of a recipe, or the aliases (*name)",
            )

    @contextmanager
    def _open(self, node: yaml.Node) -> Iterator[None]:
        if id(node) in self.open_nodes:
            raise NotPlainYamlError(
                "an alias (*name) stands inside what it stands for", node
            )
        if len(self.open_nodes) > MAX_DEPTH:
            raise NotPlainYamlError(f"nested deeper than {MAX_DEPTH} levels", node)
        self.open_nodes.add(id(node))
        yield
        self.open_nodes.remove(id(node))

"""What TensorRT-LLM reads in a YAML file: it follows YAML 1.1, as PyYAML does.

``trtllm-serve`` loads its file with ``yaml.safe_load``: 010 is 8, 8_192 is 8192, 1:30
is 90, and yes, no, on and off are booleans. Recipes follow YAML 1.2
(``recipe.yaml_lines``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from trtspec.errors import UsageError
from trtspec.recipe.yaml_lines import Key, KeyPath, YamlDocument, dotted, parse_yaml

_ACTION = "put quotes around it if it is text"
_TAG = "tag:yaml.org,2002:"
_KINDS = "str int float bool null seq map merge timestamp"
_PLAIN = ("!", *(f"!!{kind}" for kind in _KINDS.split()))
"""Tags that a value has by itself, or that change nothing but its type."""


@dataclass(frozen=True, slots=True)
class VendorYaml:
    """A document as TensorRT-LLM reads it.

    :param lines: line of each key, from 1.
    :param surprises: numbers that are not what they look like, a sentence each.
    """

    value: object
    lines: dict[KeyPath, int]
    surprises: tuple[str, ...]


def parse_vendor_yaml(text: str, source: str) -> VendorYaml:
    """Read one document.

    :param source: names the file in errors.
    :raises UsageError: for text that is not one YAML document, gives a key twice, or
        has a date, a tag, or a key that is neither a word nor a whole number.
    """
    plain = parse_yaml(text, source)  # finds what is malformed, doubled or endless
    if plain.problems:
        raise UsageError.from_problems(plain.problems)
    refuse_tags(text, source)
    lines: dict[KeyPath, int] = {(): 1}
    value = _value(text, source, lines)
    return VendorYaml(value, lines, tuple(_surprises(value, (), plain)))


def refuse_tags(text: str, source: str) -> None:
    """Refuse tags that run code, or that only some program's own reader knows.

    ``yaml.safe_load`` refuses them too; whatever else reads the file may obey them.

    :param text: one YAML document.
    :param source: names the file in errors.
    :raises UsageError: naming the line.
    """
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        if not isinstance(token, yaml.TagToken):
            continue
        handle, suffix = token.value
        name = f"{handle or ''}{suffix}".replace(_TAG, "!!")
        if name not in _PLAIN:
            raise UsageError(
                f"the tag {name} is not one of plain YAML",
                where=f"{source}:{token.start_mark.line + 1}",
                action="delete the tag, and write the value itself",
            )


def _value(text: str, source: str, lines: dict[KeyPath, int]) -> object:
    loader = yaml.SafeLoader(text)
    try:
        root = loader.get_single_node()
        if root is None:
            return None
        return _Reading(loader, source, lines).value(root, ())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{source}:{mark.line + 1}" if mark else source
        raise UsageError(error.problem or "no YAML 1.1", where=where) from None
    finally:
        loader.dispose()


@dataclass(frozen=True, slots=True)
class _Reading:
    """Turns nodes into values, aliases written out, and notes the lines."""

    loader: yaml.SafeLoader
    source: str
    lines: dict[KeyPath, int]

    def value(self, node: yaml.Node, path: KeyPath) -> object:
        """Read a node and all below it."""
        self._check_tag(node)
        if isinstance(node, yaml.SequenceNode):
            return [self._item(each, (*path, i)) for i, each in enumerate(node.value)]
        if not isinstance(node, yaml.MappingNode):
            value = self._scalar(node)
            if value is None or isinstance(value, bool | int | float | str):
                return value
            raise self._unusable(node, f"is a {type(value).__name__} in YAML 1.1")
        self.loader.flatten_mapping(node)
        result: dict[Key, object] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node)
            self.lines[(*path, key)] = key_node.start_mark.line + 1
            result[key] = self.value(value_node, (*path, key))
        return result

    def _item(self, node: yaml.Node, path: KeyPath) -> object:
        self.lines[path] = node.start_mark.line + 1
        return self.value(node, path)

    def _key(self, node: yaml.Node) -> Key:
        key = self._scalar(node)
        if isinstance(key, str | int) and not isinstance(key, bool):
            return key
        raise self._unusable(node, "is no word and no whole number in YAML 1.1")

    def _scalar(self, node: yaml.Node) -> object:
        try:
            return self.loader.construct_object(node)
        except ValueError:
            raise self._unusable(node, "cannot be read as YAML 1.1") from None

    def _unusable(self, node: yaml.Node, what: str) -> UsageError:
        text = f"{node.value} {what}"
        return UsageError(text, where=self._where(node), action=_ACTION)

    def _check_tag(self, node: yaml.Node) -> None:
        kinds: dict[type[yaml.Node], str]
        kinds = {yaml.SequenceNode: "seq", yaml.MappingNode: "map"}
        kind = kinds.get(type(node))
        if kind is not None and node.tag != f"{_TAG}{kind}":
            what = f"the tag {node.tag.replace(_TAG, '!!')} does not fit what follows"
            raise UsageError(what, where=self._where(node), action="delete the tag")

    def _where(self, node: yaml.Node) -> str:
        return f"{self.source}:{node.start_mark.line + 1}"


def _surprises(value: Any, path: KeyPath, plain: YamlDocument) -> Iterator[str]:
    """Name the numbers that YAML 1.2, and most readers, take for something else."""
    if isinstance(value, dict):
        known = _at(plain.value, path)
        for key, below in value.items():
            if isinstance(known, dict) and not {key, str(key)} & known.keys():
                yield f"{dotted(path)}: a key is {key} to TensorRT-LLM (YAML 1.1)"
            yield from _surprises(below, (*path, key), plain)
        return
    number = isinstance(value, int | float) and not isinstance(value, bool)
    written = plain.written.get(path)
    if not number or written is None or not math.isfinite(value):
        return
    if _at(plain.value, path) != value:
        yield f"{dotted(path)}: {written} is {value} to TensorRT-LLM (YAML 1.1)"


def _at(value: Any, path: KeyPath) -> object:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value

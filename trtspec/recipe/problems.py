"""How a recipe that breaks the schema is reported: where, what, allowed, what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from trtspec.errors import Problem
from trtspec.methods import (
    ALLOWED_DRAFT_ENTRY,
    ALLOWED_DRAFT_LENGTH,
    draft_length_faults,
)
from trtspec.recipe.allowed import Node, SchemaWords
from trtspec.recipe.dump import flow_text
from trtspec.recipe.places import TAGGED, advice
from trtspec.recipe.remedy import draft_length_remedy, remedy, type_name
from trtspec.recipe.suggest import nearest, other_name
from trtspec.recipe.text import shown
from trtspec.recipe.yaml_lines import KeyPath, YamlDocument, dotted

_REASONS = {
    "greater_than": "too small",
    "greater_than_equal": "too small",
    "less_than": "too large",
    "less_than_equal": "too large",
    "finite_number": "not a finite number",
    "string_too_long": "too long",
    "string_pattern_mismatch": "not a valid name",
    "too_long": "too long",
}


def schema_problems(
    error: ValidationError, document: YamlDocument, source: str
) -> list[Problem]:
    """Translate every violation into a problem with its line.

    :param source: names the file.
    """
    report = _Report(document, source)
    return [
        problem
        for violation in error.errors(include_url=False)
        for problem in report.problems(violation)
    ]


@dataclass(frozen=True)
class _Report:
    document: YamlDocument
    source: str
    words: SchemaWords = field(default_factory=SchemaWords)

    def problems(self, violation: Mapping[str, Any]) -> Iterator[Problem]:
        """Give the problems of one violation of pydantic's."""
        path: KeyPath = violation["loc"]
        if path[:1] == (TAGGED,):
            # pydantic names the method as one more step
            path = path[:1] + path[2:]
        match violation["type"]:
            case "missing":
                yield self._missing(path)
            case "extra_forbidden" | "invalid_key":
                yield self._unknown_key(path)
            case "union_tag_not_found":
                yield self._missing((*path, "method"))
            case "union_tag_invalid":
                yield self._unknown_word((*path, "method"), list(self.words.methods()))
            case "literal_error":
                node = self._node(path)
                yield self._unknown_word(path, node.get("enum") or [node["const"]])
            case "draft_length":
                yield from self._draft_length(path)
            case "too_short" if self._value(path):
                # pydantic counts valid entries; the wrong ones are reported already
                return
            case "recipe_rule":
                # pydantic adds a step for a map's key, whose input is the key itself
                of_key = path[-1:] == ("[key]",) and path[-2] == violation["input"]
                yield self._rule(path[:-1] if of_key else path, violation["ctx"])
            case "string_type" if self._is_key(path):
                yield self._wrong_key(path[:-1])
            case kind:
                yield self._wrong_value(path, kind)

    def _node(self, path: KeyPath) -> Node:
        return self.words.node(path, self.document.value)

    def _value(self, path: KeyPath) -> Any:
        value: Any = self.document.value
        for key in path:
            value = value[key]
        return value

    def _is_key(self, path: KeyPath) -> bool:
        """Whether pydantic means a map's key: it then adds a step to the key's path."""
        return path[-1:] == ("[key]",) and path not in self.document.lines

    def _where(self, path: KeyPath) -> str:
        return f"{self.source}:{self.document.line(path)}"

    def _shown(self, path: KeyPath) -> str:
        value = self._value(path)
        if isinstance(value, Mapping):
            return "a map" if value else "an empty map"
        if isinstance(value, list):
            return "a list" if value else "an empty list"
        return "empty" if value is None else self.document.written[path]

    def _missing(self, path: KeyPath) -> Problem:
        section, key = path[:-1], path[-1]
        node = self._node(path)
        if key == "method":
            allowed = ", ".join(self.words.methods())
        elif key == "draft_length":
            allowed = ALLOWED_DRAFT_LENGTH
        else:
            allowed = self.words.describe(node)
        example = node.get("examples", ["ngram"])[0]
        add = "add" if "const" in node else "add, for example,"
        under = f"under {dotted(section)}" if section else "at the top level"
        return Problem(
            f"{dotted(path)} is missing",
            self._where(section),
            allowed,
            f"{add} {key}: {flow_text(example)} {under}",
        )

    def _unknown_key(self, path: KeyPath) -> Problem:
        section, key = path[:-1], str(path[-1])
        node = self._node(section)
        return Problem(
            f"unknown key {dotted(path)} (its value is {self._shown(path)})",
            self._where(path),
            ", ".join(self.words.keys(node)),
            advice(self.words, key, section, node),
        )

    def _unknown_word(self, path: KeyPath, known: list[str]) -> Problem:
        value = self._value(path)
        near = known[0] if len(known) == 1 else nearest(str(value), known)
        reason = ", which is not known" if isinstance(value, str) else ""
        instead = f"write {path[-1]}: {near}" if near else "choose one of these"
        if path[-1] == "dtype" and (word := self._quantization(path, str(value))):
            instead = (
                f"quantization goes into {dotted((*path[:-1], 'quantization'))}: "
                f"{word}; a checkpoint that is quantized already needs nothing"
            )
        return Problem(
            f"{dotted(path)} is {self._shown(path)}{reason}",
            self._where(path),
            ", ".join(known),
            instead,
        )

    def _quantization(self, path: KeyPath, value: str) -> str | None:
        """Give the quantization that was written as a type; None if it is none."""
        node = self._node((*path[:-1], "quantization"))
        words = [word for word in node.get("enum", ()) if word != "none"]
        word = value.strip().lower().replace("-", "_")
        return word if word in words else other_name(value, words)

    def _draft_length(self, path: KeyPath) -> Iterator[Problem]:
        for fault in draft_length_faults(self._value(path)):
            place: KeyPath = (*path, *fault.entry)
            value, shown_value = self._value(place), self._shown(place)
            allowed = ALLOWED_DRAFT_ENTRY if fault.entry else ALLOWED_DRAFT_LENGTH
            what = f"{dotted(place)} is {shown_value}"
            if fault.in_key:
                value = place[-1]
                what = f"{dotted(path)} has the key {_key_text(value)}"
            if value not in (None, {}):
                what += f", which {fault.what}"
            action = draft_length_remedy(value, place[-1], in_key=fault.in_key)
            yield Problem(what, self._where(place), allowed, action)

    def _rule(self, path: KeyPath, rule: Mapping[str, Any]) -> Problem:
        place: KeyPath = (*path, *rule["place"])
        what, action = rule["what"], rule["action"]
        if what.startswith("which "):
            empty = self._value(place) is None
            what = f"is {self._shown(place)}" + ("" if empty else f", {what}")
            action = action or (self._filling(place) if empty else "")
        return Problem(
            f"{dotted(place)} {what}", self._where(place), rule["allowed"], action
        )

    def _wrong_key(self, path: KeyPath) -> Problem:
        return Problem(
            f"{dotted(path[:-1])} has the key {_key_text(path[-1])}, which is no name",
            self._where(path),
            "names as keys",
            "write the name of a setting in place of the number",
        )

    def _wrong_value(self, path: KeyPath, kind: str) -> Problem:
        value, node = self._value(path), self._node(path)
        what = f"{dotted(path)} is {self._shown(path)}"
        if kind in _REASONS:
            what += f", which is {_REASONS[kind]}"
        elif isinstance(value, str | int | float) and value != "":
            what += f", which is {type_name(value, node)}"
        return Problem(
            what,
            self._where(path),
            self.words.describe(node),
            remedy(path[-1], value, self._shown(path), node)
            if value is not None
            else self._filling(path),
        )

    def _filling(self, path: KeyPath) -> str:
        """Say what to do with a key that has no value."""
        if path[-1] in self._node(path[:-1]).get("required", []):
            example = self._node(path).get("examples", ["..."])[0]
            return f"write, for example, {path[-1]}: {flow_text(example)}"
        return "give it a value, or delete the line to get the default"


def _key_text(key: object) -> str:
    return shown(str(key), quoted=isinstance(key, str))

"""How a file to be migrated is read, and how the result is written."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from trtspec.errors import UsageError
from trtspec.recipe.dump import flow_text
from trtspec.recipe.yaml_lines import Key, KeyPath, dotted, nearest_line, parse_yaml
from trtspec.trtllm.migrate.change import ABSENT, Change
from trtspec.trtllm.migrate.config import SPEC
from trtspec.trtllm.migrate.vendor_yaml import VendorYaml, parse_vendor_yaml

_WIDEST = 96
_INDENT = "  "


@dataclass(frozen=True, slots=True)
class VendorFile:
    """A YAML of the LLM API, as it was read.

    :param lines: line of each key, from 1.
    :param has_comments: whether it has any; they cannot be kept.
    :param surprises: numbers that are not what they look like, a sentence each.
    """

    values: dict[Key, Any]
    lines: Mapping[KeyPath, int]
    has_comments: bool
    surprises: tuple[str, ...] = ()


def is_recipe(text: str, source: str) -> bool:
    """Whether a file is one of our recipes: it has the key ``schema``.

    :param source: names the file in errors.
    :raises RecipeError: if it is no YAML.
    """
    value = parse_yaml(text, source).value
    return isinstance(value, dict) and "schema" in value


def read_vendor(text: str, source: str) -> VendorFile:
    """Read a YAML of the LLM API.

    :param source: names the file in errors.
    :raises UsageError: if it is no map of keys, or gives a key twice.
    """
    document = parse_vendor_yaml(text, source)
    if not isinstance(document.value, dict):
        raise UsageError(
            "the file is no map of keys",
            where=f"{source}:1",
            allowed="the YAML that trtllm-serve takes, or a recipe of trtspec",
        )
    spec = document.value.get(SPEC)
    if spec is not None and not isinstance(spec, dict):
        raise _no_map(document, source)
    return VendorFile(
        document.value, document.lines, _has_comments(text), document.surprises
    )


def _no_map(document: VendorYaml, source: str) -> UsageError:
    return UsageError(
        f"{SPEC} is no map",
        where=f"{source}:{nearest_line(document.lines, (SPEC,))}",
        allowed="a map with decoding_type and the method's keys",
    )


def _has_comments(text: str) -> bool:
    return any(
        line.lstrip().startswith("#") or " #" in line for line in text.splitlines()
    )


def render(
    values: Mapping[Key, Any], changes: tuple[Change, ...], heading: tuple[str, ...]
) -> str:
    """Write the result as YAML; above each changed line stands what it was and why.

    :param heading: lines of the comment at the top.
    """
    lines = [f"# {line}" for line in heading]
    lines += _map_lines(values, (), _notes(values, changes))
    lines += [] if values else ["{}"]  # comments alone would be read as null
    return "\n".join(lines) + "\n"


class _Notes(NamedTuple):
    """Comments by the place that they stand above, or at the end of."""

    above: dict[KeyPath, list[str]]
    below: dict[KeyPath, list[str]]


def _notes(values: Mapping[Key, Any], changes: tuple[Change, ...]) -> _Notes:
    notes = _Notes({}, {})
    for change in changes:
        if not change.alters:
            continue
        if change.new is ABSENT:
            place = _nearest_map(values, change.path[:-1])
            notes.below.setdefault(place, []).append(note(change))
        else:
            notes.above.setdefault(change.place, []).append(note(change))
    return notes


def _nearest_map(values: Mapping[Key, Any], path: KeyPath) -> KeyPath:
    """Give the path of a map, or of one around it that is still there."""
    here: Any = values
    for depth, key in enumerate(path):
        here = here.get(key)
        if not isinstance(here, dict) or not _is_block(here):
            return path[:depth]
    return path


def note(change: Change) -> str:
    """Give a change as the comment in the YAML."""
    moved = change.place[:-1] != change.path[:-1]
    key, old = dotted(change.path) if moved else change.path[-1], change.old
    if change.new is ABSENT:
        return f"removed {key}: {shown(old)}; {change.reason}"
    if old is ABSENT:
        return f"added: {change.reason}"
    return f"was {key}: {shown(old)}; {change.reason}"


def shown(value: object) -> str:
    """Give a value in one line, as YAML has it; an absent one as nothing."""
    return "" if value is ABSENT else flow_text(value)


def _map_lines(
    values: Mapping[Key, Any], path: KeyPath, notes: _Notes
) -> Iterator[str]:
    indent = _INDENT * len(path)
    for key, value in values.items():
        place = (*path, key)
        yield from _comments(notes.above.get(place, []), indent)
        if isinstance(value, dict) and _is_block(value):
            yield f"{indent}{flow_text(key)}:"
            yield from _map_lines(value, place, notes)
        else:
            yield f"{indent}{flow_text(key)}: {flow_text(_compact(value))}"
    yield from _comments(notes.below.get(path, []), indent)


def _is_block(value: Mapping[Key, Any]) -> bool:
    return bool(value) and not all(isinstance(key, int) for key in value)


def _compact(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _comments(texts: list[str], indent: str) -> Iterator[str]:
    for text in texts:
        start = f"{indent}# "
        yield from textwrap.wrap(
            text,
            _WIDEST,
            initial_indent=start,
            subsequent_indent=f"{start}  ",
            break_long_words=False,
            break_on_hyphens=False,
        )

"""How a migration is told: as lines for a terminal, and as one JSON document."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from trtspec.recipe.yaml_lines import dotted
from trtspec.trtllm.migrate.change import ABSENT, Change, Kind, count
from trtspec.trtllm.migrate.document import shown

KINDS: tuple[Kind, ...] = (
    "blocked",
    "warned",
    "converted",
    "renamed",
    "added",
    "removed",
)
"""In the order in which a reader in a hurry wants them."""
_KIND_WIDTH = 11
_ARROW = " -> "
_NARROWEST = 40


def table(changes: Iterable[Change], width: int) -> Iterator[tuple[Kind, list[str]]]:
    """Lay the changes out, what needs a decision first; with the kind for a colour.

    :param width: columns of the terminal.
    """
    ordered = sorted(changes, key=lambda change: KINDS.index(change.kind))
    for change in ordered:
        yield change.kind, list(_entry(change, width))


def _entry(change: Change, width: int) -> Iterator[str]:
    line = f" (line {change.line})" if change.line else ""
    start = f"{change.kind:<{_KIND_WIDTH}}{_headline(change)}{line}"
    width = max(width, _NARROWEST)
    whole = f"{start}: {change.reason}"
    if len(whole) <= width:
        yield whole
        return
    yield start
    indent = " " * _KIND_WIDTH
    yield from textwrap.wrap(
        change.reason,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _headline(change: Change) -> str:
    """Give key and values before and after: ``a.b: 1 -> 2``."""
    key = dotted(change.path) or "the file"
    old, new = shown(change.old), shown(change.new)
    if change.old is ABSENT:
        return f"{key}: {new}" if change.new is not ABSENT else key
    if change.kind in ("blocked", "removed") or not change.alters:
        return f"{key}: {old}"
    if change.new is ABSENT:
        return f"{key}: {old}{_ARROW}(left out)"
    if change.becomes is None:
        return f"{key}: {old}{_ARROW}{new}"
    name = dotted(change.becomes)
    if change.becomes[:-1] == change.path[:-1]:
        name = str(change.becomes[-1])
    if change.kind == "renamed":
        return f"{key}{_ARROW}{name}: {new}"
    return f"{key}: {old}{_ARROW}{name}: {new}"


def counted(changes: Iterable[Change]) -> str:
    """Say how many changes of each kind there are: ``1 blocked, 2 converted``."""
    changes = tuple(changes)
    parts = [f"{count(changes, kind)} {kind}" for kind in KINDS if count(changes, kind)]
    return ", ".join(parts) or "no changes"


def as_json(change: Change) -> dict[str, Any]:
    """Give a change as JSON; ``old`` or ``new`` are not there where nothing was."""
    document: dict[str, Any] = {
        "kind": change.kind,
        "path": list(change.path),
        "reason": change.reason,
        "line": change.line,
    }
    if change.becomes is not None:
        document["becomes"] = list(change.becomes)
    for name, value in (("old", change.old), ("new", change.new)):
        if value is not ABSENT:
            document[name] = value
    return document

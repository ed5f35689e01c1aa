"""Which drafters public documents name for a target; none of them was tried."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

_FILE = "published.json"


@dataclass(frozen=True, slots=True)
class PublishedDrafter:
    """A drafter that a document names for a target.

    :param method: the method that takes it.
    :param model: its id on the hub; None if it lies inside the target's checkpoint.
    :param source: the document.
    :param note: what the document says beside its name; may be empty.
    :param backends: those that can load it; empty is all that run the method.
    """

    method: str
    model: str | None
    source: str
    note: str = ""
    backends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PublishedTarget:
    """A target that drafters were published for.

    :param model: its id on the hub.
    :param family: ``model_type`` of its configuration.
    """

    model: str
    family: str
    drafters: tuple[PublishedDrafter, ...]


def published_for(name: str) -> PublishedTarget | None:
    """Give what was published for a target.

    :param name: an id such as ``Qwen/Qwen3-8B``, or its last part alone; upper and
        lower case do not matter.
    """
    return _by_name().get(name.lower())


@cache
def published_targets() -> tuple[PublishedTarget, ...]:
    """Give all targets of the table."""
    return tuple(target for target, _ in _entries())


@cache
def methods_of_drafter() -> Mapping[str, str]:
    """Give the method of each drafter of the table, by its id in lower case."""
    return {
        drafter.model.lower(): drafter.method
        for target in published_targets()
        for drafter in target.drafters
        if drafter.model is not None
    }


@cache
def _by_name() -> dict[str, PublishedTarget]:
    named = {}
    for target, others in _entries():
        for name in (target.model, *others):
            named[name.lower()] = target
            named.setdefault(name.rpartition("/")[2].lower(), target)
    return named


@cache
def _entries() -> tuple[tuple[PublishedTarget, tuple[str, ...]], ...]:
    text = (files(__package__) / _FILE).read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    return tuple(
        (_target(entry, table["sources"]), tuple(entry.get("also", ())))
        for entry in table["targets"]
    )


def _target(entry: Mapping[str, Any], sources: Mapping[str, str]) -> PublishedTarget:
    drafters = (_drafter(one, sources) for one in entry["drafters"])
    return PublishedTarget(entry["model"], entry["family"], tuple(drafters))


def _drafter(entry: Mapping[str, Any], sources: Mapping[str, str]) -> PublishedDrafter:
    return PublishedDrafter(
        method=entry["method"],
        model=entry.get("model"),
        source=sources[entry["source"]],
        note=entry.get("note", ""),
        backends=tuple(entry.get("backends", ())),
    )

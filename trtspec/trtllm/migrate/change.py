"""What one step of a migration does to one key, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal

from trtspec.recipe.yaml_lines import Key, KeyPath

Kind = Literal["renamed", "converted", "removed", "added", "warned", "blocked"]


class Absent(Enum):
    """The type of ``ABSENT``."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
"""In place of a value: the key is not there. None is a value: null."""


@dataclass(frozen=True, slots=True)
class Change:
    """One key of a file, before and after.

    :param path: keys that lead to it, such as ("speculative_config", "max_draft_len");
        where it will stand if it is added.
    :param old: the value before.
    :param new: the value after; ``old`` where the reader is only warned.
    :param reason: one sentence for the reader.
    :param becomes: where it stands afterwards, if elsewhere.
    :param line: line in the file, from 1; None if it was not in the file.
    """

    kind: Kind
    path: KeyPath
    old: Any
    new: Any
    reason: str
    becomes: KeyPath | None = None
    line: int | None = None

    @property
    def place(self) -> KeyPath:
        """Where the key stands afterwards."""
        return self.becomes or self.path

    @property
    def alters(self) -> bool:
        """Whether the file changes, not only what the reader knows."""
        return self.becomes is not None or not same(self.old, self.new)


def same(one: object, other: object) -> bool:
    """Whether two values are written alike: 1, 1.0 and true are three values."""
    return type(one) is type(other) and one == other


def renamed(path: KeyPath, value: object, name: str, reason: str) -> Change:
    """Give the same value another key in the same map."""
    return Change("renamed", path, value, value, reason, (*path[:-1], name))


def converted(path: KeyPath, old: object, new: object, reason: str) -> Change:
    """Say the same in another way."""
    return Change("converted", path, old, new, reason)


def removed(path: KeyPath, old: object, reason: str) -> Change:
    """Leave a key out."""
    return Change("removed", path, old, ABSENT, reason)


def added(path: KeyPath, new: object, reason: str) -> Change:
    """Write what the other release takes for granted."""
    return Change("added", path, ABSENT, new, reason)


def warned(path: KeyPath, value: object, reason: str) -> Change:
    """Leave a key as it is, and say what it means from now on."""
    return Change("warned", path, value, value, reason)


def blocked(path: KeyPath, old: object, reason: str) -> Change:
    """Say that a key has no equivalent; whoever reads it has to decide."""
    return Change("blocked", path, old, ABSENT, reason)


def apply_change(values: dict[Key, Any], change: Change) -> None:
    """Make a change in a tree of maps, in place; the order of keys stays."""
    if not change.alters:
        return
    if change.becomes is None:
        _put(values, change.path, change.new)
    elif change.becomes[:-1] == change.path[:-1]:
        _rename(values, change.path, change.becomes[-1], change.new)
    else:
        _put(values, change.path, ABSENT)
        _put(values, change.becomes, change.new)


def _put(values: dict[Key, Any], path: KeyPath, value: object) -> None:
    section = values
    for key in path[:-1]:
        section = section.setdefault(key, {})
    if value is not ABSENT:
        section[path[-1]] = value
        return
    section.pop(path[-1], None)
    if not section and len(path) > 1:
        _put(values, path[:-1], ABSENT)  # a map that all its keys have left


def _rename(values: dict[Key, Any], path: KeyPath, name: Key, value: object) -> None:
    section = values
    for key in path[:-1]:
        section = section[key]
    before = list(section.items())
    section.clear()
    for key, kept in before:
        if key == path[-1]:
            section[name] = value
        elif key != name:
            section[key] = kept


def count(changes: Iterable[Change], kind: Kind) -> int:
    """Give the number of changes of a kind."""
    return sum(change.kind == kind for change in changes)

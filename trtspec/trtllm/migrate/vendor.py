"""What a vendor's YAML for the LLM API becomes on another release."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from packaging.version import Version

from trtspec.files import canonical_json
from trtspec.recipe.yaml_lines import Key, KeyPath
from trtspec.trtllm.facts.families import Family, family_of
from trtspec.trtllm.migrate.asking import ambiguous, doubts, misread
from trtspec.trtllm.migrate.backend_key import backend_key
from trtspec.trtllm.migrate.batch import batch
from trtspec.trtllm.migrate.change import Change, apply_change, count
from trtspec.trtllm.migrate.config import SPEC, Config
from trtspec.trtllm.migrate.decoding import decoding
from trtspec.trtllm.migrate.deduce import candidates, decisive_key
from trtspec.trtllm.migrate.draft_model import draft_model
from trtspec.trtllm.migrate.engine_shape import engine_shape
from trtspec.trtllm.migrate.gate import gate, gate_without_effect
from trtspec.trtllm.migrate.graphs import graphs
from trtspec.trtllm.migrate.guided import guided
from trtspec.trtllm.migrate.leftovers import leftovers
from trtspec.trtllm.migrate.lengths import lengths
from trtspec.trtllm.migrate.mtp import thinking_tokens
from trtspec.trtllm.migrate.refused import refused
from trtspec.trtllm.migrate.samplers import samplers
from trtspec.trtllm.migrate.sampling import sampling
from trtspec.trtllm.migrate.stale import stale
from trtspec.trtllm.migrate.suffix import suffix
from trtspec.trtllm.migrate.tree import tree
from trtspec.trtllm.migrate.typed import typed
from trtspec.trtllm.migrate.walk import TYPE

Step = Callable[[Config], Iterable[Change]]
Values = dict[Key, Any]

BEFORE_1_0: tuple[Step, ...] = (stale,)
STEPS: tuple[Step, ...] = (
    stale,
    backend_key,
    decoding,
    typed,
    draft_model,
    lengths,
    tree,
    gate_without_effect,
    batch,
    gate,
    guided,
    sampling,
    engine_shape,
    suffix,
    thinking_tokens,
    samplers,
    graphs,
    leftovers,
)
"""In this order: each sees what those before it have left."""


@dataclass(frozen=True, slots=True)
class Migration:
    """A file on its way from one family to a version, and what was done to it.

    :param source: family that the file was taken to be of.
    :param values: the result; not to be used if ``is_blocked``.
    :param fitting: the families that it could be of, where none was given.
    """

    source: Family
    version: Version
    values: Values
    changes: tuple[Change, ...]
    fitting: tuple[Family, ...] = ()

    @property
    def spec(self) -> Mapping[str, Any] | None:
        """The resulting ``speculative_config``; None if something is blocked."""
        return None if self.is_blocked else self.values.get(SPEC) or {}

    @property
    def is_blocked(self) -> bool:
        """Whether something has no equivalent."""
        return count(self.changes, "blocked") > 0

    @property
    def alters(self) -> bool:
        """Whether the file changes at all."""
        return any(change.alters for change in self.changes)


def migrate_vendor(
    values: Mapping[Key, Any],
    version: Version,
    source: Family | None = None,
    lines: Mapping[KeyPath, int] | None = None,
    written_for: Version | None = None,
) -> Migration:
    """Move a YAML of the LLM API to another version.

    :param values: what the file says.
    :param version: one that belongs to a family.
    :param source: family that it was written for; deduced from its keys if None.
    :param lines: line of each key.
    :param written_for: version of that family, if one is known.
    :returns: one that is blocked if a given family contradicts the file, and it
        matters.
    :raises UsageError: if the keys fit several families, and it matters which.
    """
    lines = lines or {}
    placed = _with_old_keys_moved(values, version)
    if source is not None:
        if wrong := misread(placed, source, lines):
            return Migration(source, version, dict(values), (wrong,))
        found = _moved(_config(values, version, source, written_for), lines)
        told = (*doubts(values, source, found.changes, lines), *found.changes)
        return replace(found, changes=_by_line(told))
    fitting = candidates(placed)
    moved = [_moved(_config(values, version, one), lines) for one in fitting]
    if _matters(values, moved):
        raise ambiguous({one.source: one.spec for one in moved})
    family = family_of(version)
    ours = next((one for one in moved if one.source == family), moved[-1])
    return replace(ours, changes=_by_line(ours.changes), fitting=fitting)


def _config(
    values: Mapping[Key, Any],
    version: Version,
    source: Family,
    written_for: Version | None = None,
) -> Config:
    family = family_of(version)
    assert family is not None, "asked for beforehand"
    ours = copy.deepcopy(dict(values))
    return Config(ours, source, version, family, written_for)


def _moved(
    config: Config, lines: Mapping[KeyPath, int], steps: Iterable[Step] = STEPS
) -> Migration:
    known = dict(lines)
    changes: list[Change] = []
    for step in steps:
        for change in list(step(config)):
            line = known.get(change.path)
            if change.becomes and line:
                known[change.becomes] = line
            changes.append(replace(change, line=line))
            apply_change(config.values, change)
            if change.kind == "blocked" and change.path == (SPEC, TYPE):
                config.values.pop(SPEC, None)  # nobody can tell what it means
    changes += refused(config, changes, known)
    return Migration(config.source, config.version, config.values, tuple(changes))


def _with_old_keys_moved(values: Mapping[Key, Any], version: Version) -> Values:
    return _moved(_config(values, version, "1.0"), {}, BEFORE_1_0).values


def _result(migration: Migration) -> tuple[bool, str]:
    values = "" if migration.is_blocked else canonical_json(migration.values)
    return migration.is_blocked, values


def _matters(values: Mapping[Key, Any], moved: list[Migration]) -> bool:
    """Whether it makes a difference from which family a file is moved."""
    if any(_result(one) != _result(moved[0]) for one in moved):
        return True
    given = decisive_key(values) is not None
    return given and any(_blocks(one) != _blocks(moved[0]) for one in moved)


def _blocks(migration: Migration) -> set[tuple[KeyPath, str]]:
    """Give what is blocked, and why: it tells how the file was read."""
    return {(c.path, c.reason) for c in migration.changes if c.kind == "blocked"}


def _by_line(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Sort as the file is read; what is added comes last."""
    return tuple(sorted(changes, key=lambda c: (c.line is None, c.line or 0)))

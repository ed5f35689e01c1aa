"""What one of our recipes needs for another release, and what is emitted there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from packaging.version import Version

from trtspec.recipe import Recipe
from trtspec.recipe.yaml_lines import KeyPath, nearest_line
from trtspec.trtllm.facts import has_backend
from trtspec.trtllm.migrate.change import (
    ABSENT,
    Change,
    added,
    blocked,
    converted,
    count,
    removed,
    same,
    warned,
)
from trtspec.trtllm.pytorch.compile import compile_args
from trtspec.trtllm.pytorch.settings import LlmArgs, Setting
from trtspec.trtllm.rewrite import pytorch_recipe, rewriting_notes

METHOD = ("speculation", "method")


@dataclass(frozen=True, slots=True)
class RecipeMigration:
    """A recipe for another version.

    :param recipe: what it becomes; None if the target has no such method.
    :param changes: of the recipe.
    :param emitted: the LLM API's YAML there; None if the recipe has none.
    :param emitted_changes: what differs between the YAML of the two versions.
    """

    recipe: Recipe | None
    changes: tuple[Change, ...]
    emitted: LlmArgs | None = None
    emitted_changes: tuple[Change, ...] = ()

    @property
    def is_blocked(self) -> bool:
        """Whether somebody has to decide something first."""
        return count(self.changes, "blocked") > 0


def migrate_recipe(
    recipe: Recipe,
    version: Version,
    source: Version | None = None,
    lines: Mapping[KeyPath, int] | None = None,
) -> RecipeMigration:
    """Say what a recipe needs for a version of TensorRT-LLM.

    :param source: version whose YAML is compared; nothing is if None.
    :param lines: line of each key of the recipe.
    """
    changes: tuple[Change, ...] = ()
    ours = recipe
    if recipe.backend == "reference" or _keeps_engines(recipe, version):
        return RecipeMigration(recipe, ())
    if recipe.backend == "tensorrt":
        rewritten = pytorch_recipe(recipe)
        if rewritten is None:
            why = _no_method(recipe, version)
            return RecipeMigration(None, _with_lines((why,), lines))
        ours = rewritten
        changes = tuple(_rewriting(recipe, rewritten))
    compiled = compile_args(ours, version)
    for remark in compiled.remarks:
        make = {"blocking": blocked, "warning": warned}.get(remark.severity)
        if make is not None:
            text = "; ".join(t for t in (remark.what, remark.why, remark.action) if t)
            changes += (make(remark.key, _held(ours, remark.key), text),)
    before = None
    if source is not None and recipe.backend == "pytorch":
        before = compile_args(recipe, source).args
    differ = tuple(compare(before, compiled.args)) if before else ()
    return RecipeMigration(ours, _with_lines(changes, lines), compiled.args, differ)


def compare(before: LlmArgs, after: LlmArgs) -> Iterator[Change]:
    """Give what differs between two configurations, in the order of the second."""
    old = dict(before.leaves())
    new = dict(after.leaves())
    for path, setting in new.items():
        was = old.get(path)
        if was is None:
            yield added(path, _plain(setting), setting.why)
        elif not same(_plain(was), _plain(setting)):
            yield converted(path, _plain(was), _plain(setting), setting.why)
    for path, setting in old.items():
        if path not in new:
            why = f"not written for {after.version}; on {before.version}: {setting.why}"
            yield removed(path, _plain(setting), why)


def _plain(setting: Setting) -> Any:
    value = setting.value
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def _keeps_engines(recipe: Recipe, version: Version) -> bool:
    return recipe.backend == "tensorrt" and has_backend(version)


def _no_method(recipe: Recipe, version: Version) -> Change:
    """Name what comes nearest to a method that backend pytorch does not have."""
    moved = recipe.model_copy(update={"backend": "pytorch", "engine": None})
    remarks = compile_args(moved, version).remarks
    texts = [
        "; ".join(t for t in (r.what, r.why, r.action) if t)
        for r in remarks
        if r.severity == "blocking"
    ]
    method = recipe.speculation.method
    text = texts[0] if texts else f"backend pytorch has no equivalent of {method}"
    return blocked(METHOD, method, text)


def _rewriting(recipe: Recipe, rewritten: Recipe) -> Iterator[Change]:
    """Give what differs between a recipe for engines and one for backend pytorch."""
    notes = list(rewriting_notes(recipe, by_batch=False))
    old = dict(_leaves(recipe.model_dump(exclude_none=True)))
    new = dict(_leaves(rewritten.model_dump(exclude_none=True)))
    written = dict(_leaves(recipe.model_dump(exclude_unset=True)))
    for path, value in written.items():
        now = new.get(path, ABSENT)
        if now is ABSENT:
            yield removed(path, value, "only engines have it")
        elif not same(value, now):
            yield converted(path, value, now, _reason(path, notes))
    for path, value in new.items():
        if path not in old:
            yield added(path, value, "backend pytorch has it")
    for text in notes:
        yield warned(METHOD, recipe.speculation.method, text)


def _reason(path: KeyPath, notes: list[str]) -> str:
    if path == ("backend",):
        return "the engine backend is gone; there is nothing to compile any more"
    return "backend pytorch reads it otherwise" if notes else "only engines have it"


def _leaves(value: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    nested = (
        isinstance(value, dict) and value and all(isinstance(k, str) for k in value)
    )
    if not nested:
        yield path, value
        return
    assert isinstance(value, dict), "just looked"
    for key, inner in value.items():
        yield from _leaves(inner, (*path, key))


def _held(recipe: Recipe, path: KeyPath) -> Any:
    value: Any = recipe.model_dump(by_alias=True)
    for key in path:
        value = value.get(key, ABSENT) if isinstance(value, dict) else ABSENT
    return value


def _with_lines(
    changes: tuple[Change, ...], lines: Mapping[KeyPath, int] | None
) -> tuple[Change, ...]:
    if not lines:
        return changes
    return tuple(replace(c, line=nearest_line(lines, c.path)) for c in changes)

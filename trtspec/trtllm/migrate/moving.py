"""What ``trtspec migrate`` does with a file: tell what it is, and move it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

from trtspec import __version__
from trtspec.recipe import dump_recipe
from trtspec.recipe.load import load_recipe
from trtspec.trtllm.facts.families import family_of
from trtspec.trtllm.migrate.change import Change
from trtspec.trtllm.migrate.document import is_recipe, read_vendor, render
from trtspec.trtllm.migrate.reading import read_text
from trtspec.trtllm.migrate.recipes import RecipeMigration, migrate_recipe
from trtspec.trtllm.migrate.target import family_meant, version_meant
from trtspec.trtllm.migrate.told import as_json
from trtspec.trtllm.migrate.vendor import Migration, migrate_vendor
from trtspec.trtllm.migrate.vendor_yaml import refuse_tags

TO, FROM = "--to", "--from"
_NOTHING_LEFT = "nothing is left of the file: trtllm-serve can do without --config"


@dataclass(frozen=True, slots=True)
class Moved:
    """A file for another release, and what is to be told of it.

    :param text: the new file; None if something has no equivalent.
    :param emitted: the LLM API's YAML of a recipe; None for any other file.
    :param notes: further sentences for the reader.
    """

    file: str
    kind: str
    source: str | None
    version: Version
    changes: tuple[Change, ...]
    text: str | None
    emitted: str | None = None
    emitted_changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """From where to where, for a reader."""
        start = f"from {self.source} " if self.source else ""
        return f"{self.file}: {start}to TensorRT-LLM {self.version}"

    @property
    def emitted_title(self) -> str:
        """The same, of what a recipe is written as."""
        return f"its llm_args.yaml: from {self.source} to TensorRT-LLM {self.version}"

    def as_json(self) -> dict[str, Any]:
        """Give all of it as one JSON document."""
        unchanged = not any(change.alters for change in self.changes)
        verdict = "unchanged" if unchanged else "migrated"
        document = {
            "file": self.file,
            "kind": self.kind,
            "from": self.source,
            "to": str(self.version),
            "family": family_of(self.version),
            "verdict": "blocked" if self.text is None else verdict,
            "changes": [as_json(change) for change in self.changes],
            "yaml": self.text,
            "notes": list(self.notes),
        }
        if self.kind == "recipe":
            document["llm_args"] = self.emitted
            document["llm_args_changes"] = [as_json(c) for c in self.emitted_changes]
        return document


def move_file(file: str, target: str, source: str | None) -> Moved:
    """Read a file and move it to another release.

    :param target: version or family to move to.
    :param source: version or family that it was written for; deduced if None.
    :raises UsageError: if the file or a version cannot be used, or if the source has
        to be told.
    """
    text = read_text(file)
    version = version_meant(target, TO)
    start = version_meant(source, FROM) if source is not None else None
    if is_recipe(text, file):
        return _move_recipe(file, text, version, start)
    return _move_vendor(file, text, version, start)


def _move_vendor(
    file: str, text: str, version: Version, start: Version | None
) -> Moved:
    family_meant(version, TO)
    family = family_meant(start, FROM) if start is not None else None
    read = read_vendor(text, file)
    moved = migrate_vendor(read.values, version, family, read.lines, start)
    notes = list(read.surprises)
    if start is None:
        notes.append(_taken_for(moved))
    if read.has_comments and moved.alters and not moved.is_blocked:
        notes.append("the file's own comments are not kept")
    if not moved.is_blocked and not moved.values:
        notes.append(_NOTHING_LEFT)
    result = None if moved.is_blocked else _vendor_text(file, text, moved)
    return Moved(
        file,
        "llm_args",
        moved.source,
        version,
        moved.changes,
        result,
        notes=tuple(notes),
    )


def _taken_for(moved: Migration) -> str:
    others = [family for family in moved.fitting if family != moved.source]
    too = f" (they fit {' and '.join(others)} too)" if others else ""
    return (
        f"taken for a file of {moved.source} by its keys{too}; give --from if it is not"
    )


def _vendor_text(file: str, text: str, moved: Migration) -> str:
    if not moved.alters:
        return text
    heading = (
        f"For TensorRT-LLM {moved.version}; from {Path(file).name}, written for "
        f"{moved.source}, by trtspec {__version__} migrate",
    )
    return render(moved.values, moved.changes, heading)


def _move_recipe(
    file: str, text: str, version: Version, start: Version | None
) -> Moved:
    refuse_tags(text, file)
    loaded = load_recipe(file)
    moved = migrate_recipe(loaded.recipe, version, start, loaded.lines)
    if moved.emitted is not None:
        family_meant(version, TO)
    if start is not None and moved.emitted_changes:
        family_meant(start, FROM)
    changed = moved.recipe is not None and moved.recipe != loaded.recipe
    result: str | None = text
    if moved.is_blocked or moved.recipe is None:
        result = None
    elif changed:
        result = f"# For TensorRT-LLM {version}\n{dump_recipe(moved.recipe)}"
    return Moved(
        file,
        "recipe",
        str(start) if start is not None else None,
        version,
        moved.changes,
        result,
        _emitted(moved),
        moved.emitted_changes,
        tuple(_recipe_notes(loaded.recipe.backend, moved, version, changed)),
    )


def _emitted(moved: RecipeMigration) -> str | None:
    if moved.emitted is None:
        return None
    from trtspec.trtllm.pytorch.compile.document import render as render_args

    return render_args(moved.emitted)


def _recipe_notes(
    backend: str, moved: RecipeMigration, version: Version, changed: bool
) -> list[str]:
    if backend == "reference":
        return ["backend reference has nothing of TensorRT-LLM: the recipe stays"]
    if moved.is_blocked:
        return []
    if changed:
        return ["the recipe's own comments are not kept; relative paths are"]
    notes = [f"the recipe itself stays as it is for TensorRT-LLM {version}"]
    if moved.emitted is not None and not moved.emitted_changes:
        notes.append("--from VERSION shows what differs in its llm_args.yaml")
    return notes

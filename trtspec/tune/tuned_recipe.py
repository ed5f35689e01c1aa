"""The recipe that a tuning leaves: the user's own, with the chosen draft length."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from trtspec import __version__
from trtspec.tune.candidate import tree_fields
from trtspec.tune.result import CandidateResult, LoadChoice, TuneResult
from trtspec.tune.rewrite import (
    Key,
    difference,
    edited,
    moved_paths,
    with_section,
    without_comments,
)

DRAFT_LENGTH: Key = ("speculation", "draft_length")


@dataclass(frozen=True, slots=True)
class Source:
    """The recipe that was tuned.

    :param text: as it stands in its file.
    :param path: that file.
    :param default_place: where the tuned one goes unless told otherwise.
    """

    text: str
    path: Path
    default_place: Path

    def difference(self, tuned: str) -> str:
        """Show what the tuned recipe changes."""
        return difference(self.text, tuned, self.path.name)


def tuned_text(
    source: Source, result: TuneResult, directory: Path, prompts: Path | None = None
) -> str:
    """Write the chosen draft length and where it comes from into a recipe.

    :param directory: where the recipe will lie; relative paths are kept right.
    :param prompts: the workload that it was tuned for, if not the recipe's own.
    """
    best = result.best
    changes: dict[Key, object] = {}
    base = source.path.parent
    if directory.resolve() != base.resolve():
        changes |= moved_paths(source.text, base.resolve(), directory.resolve())
    if best.draft_length is None:
        changes = {k: v for k, v in changes.items() if k[0] != "speculation"}
        changes["speculation",] = {"method": "none"}
    elif best.tree:
        changes["speculation", "tree"] = [list(path) for path in best.tree]
        changes |= _beside_tree(source.text, best)
    elif best.cut_anywhere:
        changes[DRAFT_LENGTH] = best.draft_length
    changes |= _workload(result)
    if prompts is not None:
        named = os.path.relpath(prompts.resolve(), directory.resolve())
        changes["workload", "prompts"] = Path(named).as_posix()
    text = edited(without_comments(source.text, DRAFT_LENGTH), changes)
    return with_section(text, "tuned", tuned_section(result))


def _beside_tree(text: str, best: CandidateResult) -> Mapping[Key, object]:
    """What else a recipe has to say of a tree: its depth, and room for its nodes."""
    assert best.tree is not None
    given = yaml.safe_load(text).get("speculation") or {}
    fields = tree_fields(str(best.speculation.get("method")), best.tree)
    inner = "max_non_leaves_per_layer"
    if inner in fields and given.get(inner, fields[inner]) >= fields[inner]:
        del fields[inner]
    if len(best.tree) > given.get("max_draft_tokens", len(best.tree)):
        fields["max_draft_tokens"] = len(best.tree)
    return {("speculation", key): value for key, value in fields.items()}


def _workload(result: TuneResult) -> Mapping[Key, object]:
    """What the workload has to say so that it is the one that was tuned for."""
    return {
        ("workload", "output_tokens"): result.output_tokens,
        ("workload", "concurrency"): [x.concurrency for x in result.best.loads],
    }


def tuned_section(result: TuneResult) -> dict[str, object]:
    """Give the ``tuned:`` block."""
    best = result.best
    return {
        "by": f"trtspec {__version__}",
        "date": result.started[:10],
        "fingerprint": best.fingerprint,
        "prompts_sha256": result.prompts.rendered_sha256,
        "prompts": result.prompts.count,
        "output_tokens": result.output_tokens,
        "costs": result.costs,
        "hardware": result.hardware,
        "loads": [_row(best, load) for load in best.loads],
    }


def _row(best: CandidateResult, load: LoadChoice) -> dict[str, object]:
    row: dict[str, object] = {
        "concurrency": load.concurrency,
        "draft_length": load.length,
        "predicted": round(load.gain, 3),
    }
    if load.measured:
        row["measured"] = round(load.measured.gain, 3)
    return {**row, "verdict": load.word}

"""The stage that rewrites an EAGLE-3 head's config.json where TensorRT-LLM needs it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from trtspec.build.artifact import DRAFT
from trtspec.build.sources import Source
from trtspec.build.stage import Stage, StageContext
from trtspec.models.config import CONFIG
from trtspec.models.drafter import DrafterInfo
from trtspec.models.eagle3_head import Change, needed_changes
from trtspec.models.json_file import read_json_object

CONVERT_HEAD = "convert-head"
HEAD_VERSION = 1
"""Raised when the same changes would be written in another way."""
ORIGINAL = "config.original.json"


def head_changes(source: Source | None) -> tuple[Change, ...]:
    """Say which fields of a head's configuration TensorRT-LLM needs otherwise."""
    if source is None or not isinstance(source.info, DrafterInfo):
        return ()
    if source.info.kind != "eagle3":
        return ()
    return needed_changes(source.info)


def head_stage(source: Source, changes: Sequence[Change]) -> Stage:
    """Plan to rewrite the configuration; the weights stay as they are."""
    assert isinstance(source.info, DrafterInfo), "changes are known of a known head"
    summary = tuple(
        f"set {c.key} in the head's config.json: {json.dumps(c.old)} -> "
        f"{json.dumps(c.new)}: {c.why}"
        for c in changes
    )
    return Stage(
        name=CONVERT_HEAD,
        version=HEAD_VERSION,
        inputs={
            **{f"change {c.key}": json.dumps(c.new, sort_keys=True) for c in changes},
            **{f"file {name}": sha for name, sha in (source.files or {}).items()},
        },
        action=partial(_rewrite, source, tuple(changes)),
        summary=summary,
        needs_bytes=source.info.weight_bytes,
        folder=DRAFT,
    )


def _rewrite(source: Source, changes: Sequence[Change], context: StageContext) -> None:
    directory = source.directory
    assert directory is not None, "a build fetches its sources first"
    for name in sorted({*(source.files or ())} - {CONFIG}):
        # a hard link would let us change the mode of the user's own file
        shutil.copyfile(directory / name, context.output / name)
    shutil.copyfile(directory / CONFIG, context.output / ORIGINAL)
    config = read_json_object(directory / CONFIG)
    for change in changes:
        context.log(f"{change.key}: {change.old!r} -> {change.new!r}: {change.why}")
        config[change.key] = change.new
    text = json.dumps(config, indent=2, ensure_ascii=False) + "\n"
    Path(context.output / CONFIG).write_text(text, encoding="utf-8")

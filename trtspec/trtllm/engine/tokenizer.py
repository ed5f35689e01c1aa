"""The tokenizer beside the engines: an engine directory has none of its own."""

from __future__ import annotations

import json
import os
import shutil
import sys
from functools import partial
from pathlib import Path

from trtspec.build.artifact import TOKENIZER
from trtspec.build.command import run_command
from trtspec.build.sources import Source
from trtspec.build.stage import Stage, StageContext
from trtspec.models.files import SETTINGS
from trtspec.trtllm.libraries import library_inputs

NAME = "tokenizer"
TOKENIZER_VERSION = 1
"""Raised when the same files would give another tokenizer folder."""

FAST = "tokenizer.json"
_CONVERT = (
    "import json, sys; from transformers import AutoTokenizer; "
    "source, output = json.loads(sys.argv[1]); "
    "AutoTokenizer.from_pretrained(source, use_fast=True, local_files_only=True, "
    "trust_remote_code=False).save_pretrained(output)"
)


def tokenizer_stage(target: Source) -> Stage:
    """Copy tokenizer and configuration; make tokenizer.json if there is none."""
    names = settings_of(target)
    converts = target.directory is not None and FAST not in names
    summary = f"copy tokenizer and configuration of {target.reference.text}"
    return Stage(
        name=NAME,
        version=TOKENIZER_VERSION,
        inputs={
            **{
                f"file {name}": digest
                for name, digest in (target.files or {}).items()
                if name in names
            },
            **(library_inputs(["transformers"]) if converts else {}),
        },
        action=partial(_copy, target.directory, names),
        summary=(summary + (", with transformers to tokenizer.json" * converts),),
        folder=TOKENIZER,
    )


def settings_of(target: Source) -> list[str]:
    """Name the files of a checkpoint that are not weights; empty if it is not here."""
    directory = target.directory
    if directory is None:
        return []
    found = {path.name for pattern in SETTINGS for path in directory.glob(pattern)}
    return sorted(name for name in found if name in (target.files or found))


def _copy(directory: Path | None, names: list[str], context: StageContext) -> None:
    assert directory is not None, "a build fetches its sources first"
    for name in names:
        shutil.copyfile(directory / name, context.output / name)
    if FAST in names:
        return
    places = [str(directory.absolute()), str(context.output.absolute())]
    run_command(
        [sys.executable, "-c", _CONVERT, json.dumps(places)],
        log_file=context.log_file,
        writes_to=context.output,
        environment={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    # what transformers writes of these would hide what the model's authors wrote
    for name in names:
        shutil.copyfile(directory / name, context.output / name)

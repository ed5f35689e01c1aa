"""The stage that brings one checkpoint, model or drafter, to the recipe's dtype."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path

import trtspec
from trtspec.build.command import CommandError, run_command
from trtspec.build.sources import Source
from trtspec.build.stage import Stage, StageContext
from trtspec.errors import BuildError, Problem
from trtspec.reference import convert
from trtspec.reference.conversion import Conversion, plan_conversion

CONVERT_VERSION = 1
"""Raised when the same checkpoint would be converted to other bytes."""

CONVERT = {"target": "convert-target", "draft": "convert-draft"}
"""Role of a checkpoint → name of its stage."""

_REFUSED = "ValueError: "
"""What the converter says of pickled files that it does not take."""


def convert_stage(source: Source, dtype: str) -> Stage:
    """Plan to convert one checkpoint.

    :raises BuildError: if its weights are quantized.
    """
    conversion = plan_conversion(source, dtype)
    return Stage(
        name=CONVERT[source.role],
        version=CONVERT_VERSION,
        inputs={
            "dtype": dtype,
            "way": conversion.way,
            **{f"file {name}": sha for name, sha in (source.files or {}).items()},
            **{f"version {name}": v for name, v in conversion.versions.items()},
        },
        action=partial(_convert, source, conversion),
        summary=(conversion.summary,),
        needs_bytes=conversion.needs_bytes,
        folder=source.role,
    )


def _convert(source: Source, conversion: Conversion, context: StageContext) -> None:
    assert source.directory is not None, "a build fetches its sources first"
    names = sorted(source.files or {})
    context.log(conversion.summary)
    if conversion.way == "copy" and not conversion.make_tokenizer:
        convert.copy_checkpoint(
            source.directory, context.output, names, conversion.dtype
        )
        return
    task = {
        "source": str(source.directory.absolute()),
        "output": str(context.output.absolute()),
        "names": names,
        "way": conversion.way,
        "dtype": conversion.dtype,
        "make_tokenizer": conversion.make_tokenizer,
    }
    try:
        run_command(
            [sys.executable, "-m", convert.__name__, json.dumps(task)],
            log_file=context.log_file,
            writes_to=context.output.parent.parent,
            environment=_offline_environment(),
        )
    except CommandError as error:
        (problem,) = error.problems
        if conversion.way != "unpickle" or not problem.what.startswith(_REFUSED):
            raise
        raise _not_unpickled(source, problem) from error


def _not_unpickled(source: Source, problem: Problem) -> BuildError:
    return BuildError(
        problem.what.removeprefix(_REFUSED),
        where=str(source.directory),
        allowed="safetensors, or a file of tensors by name that torch.load reads with "
        "weights_only=True",
        action="fetch the file again, or convert it to safetensors where you trust it; "
        + problem.action,
    )


def _offline_environment() -> dict[str, str]:
    """Let the converter import this very trtspec, and reach no network."""
    ours = str(Path(trtspec.__file__).parent.parent)
    path = os.pathsep.join(filter(None, (ours, os.environ.get("PYTHONPATH"))))
    return {
        **os.environ,
        "PYTHONPATH": path,
        "HF_HUB_OFFLINE": "1",
        "PYTHONIOENCODING": "utf-8",
        "TQDM_DISABLE": "1",
    }

"""How the reference backend builds: convert target and draft, check that they pair."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection
from dataclasses import asdict
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import trtspec
from trtspec.build.command import run_command
from trtspec.build.fingerprint import deciding_settings
from trtspec.build.gates import refuse_blocking
from trtspec.build.progress import SILENT
from trtspec.build.sources import Source, StageInputs
from trtspec.build.stage import Stage, StageContext
from trtspec.check import check_models
from trtspec.check.rules import Rule
from trtspec.errors import Problem
from trtspec.files import sha256_json
from trtspec.models.describe import describe
from trtspec.recipe.schema import Recipe
from trtspec.reference import convert
from trtspec.reference.conversion import (
    Conversion,
    installed_version,
    plan_conversion,
)

CONVERT_VERSION = 1
"""Raised when the same checkpoint would be converted to other bytes."""
CHECK_VERSION = 1
"""Raised when the same pair would be judged in another way."""

CONVERT = {"target": "convert-target", "draft": "convert-draft"}
CHECK_PAIR = "check-pair"
FINDINGS = "findings.json"

_NEEDED = {"torch": "reference", "transformers": "reference"}
_NEEDED_FOR_GGUF = {"gguf": "demo", "accelerate": "demo"}
"""Library → the extra of ours that installs it."""
_REPORTED = ("torch", "transformers", "tokenizers", "safetensors", "numpy")


class ReferenceBackend:
    """Builds artifacts of the embedded engine; see ``trtspec.build.backend``."""

    name = "reference"

    def missing(self, formats: Collection[str] = ()) -> list[Problem]:
        """Name the libraries that cannot be imported, by the extra to install."""
        needed = _NEEDED | (_NEEDED_FOR_GGUF if "gguf" in formats else {})
        absent = {name: extra for name, extra in needed.items() if not _is_here(name)}
        return [
            Problem(
                f"{', '.join(n for n in absent if absent[n] == extra)} not installed",
                action=f'pip install "trtspec[{extra}]"',
            )
            for extra in dict.fromkeys(absent.values())
        ]

    def versions(self) -> dict[str, str]:
        """Versions of what converts and runs the models here."""
        python = ".".join(map(str, sys.version_info[:3]))
        libraries = {name: installed_version(name) for name in _REPORTED}
        return {"trtspec": trtspec.__version__, "python": python, **libraries}

    @property
    def version(self) -> None:
        """TensorRT-LLM takes no part."""
        return None

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Nothing beside the rules for all."""
        return ()

    def links(self, inputs: StageInputs) -> dict[str, Source]:
        """Every folder is made by a stage."""
        return {}

    def outline(self, inputs: StageInputs) -> tuple[Stage, ...]:
        """How a checkpoint is converted depends on what it is."""
        return ()

    def stages(self, inputs: StageInputs) -> tuple[Stage, ...]:
        """Convert each checkpoint; check that target and draft fit together."""
        dtype = inputs.recipe.target.dtype
        converted = tuple(_convert_stage(source, dtype) for source in inputs.sources)
        if inputs.draft is None:
            return converted
        return (*converted, _check_pair_stage(inputs.recipe, converted))


def _is_here(library: str) -> bool:
    return find_spec(library) is not None


def _convert_stage(source: Source, dtype: str) -> Stage:
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
    run_command(
        [sys.executable, "-m", convert.__name__, json.dumps(task)],
        log_file=context.log_file,
        writes_to=context.output.parent.parent,
        environment=_offline_environment(),
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


def _check_pair_stage(recipe: Recipe, converted: tuple[Stage, ...]) -> Stage:
    return Stage(
        name=CHECK_PAIR,
        version=CHECK_VERSION,
        inputs={
            "trtspec": trtspec.__version__,
            "settings": sha256_json(deciding_settings(recipe)),
        },
        action=partial(_check_pair, recipe),
        summary=("compare the token ids of target and draft model",),
        uses=converted,
    )


def _check_pair(recipe: Recipe, context: StageContext) -> None:
    target, draft = (describe(context.inputs[name]) for name in CONVERT.values())
    findings = check_models(target, draft, recipe)
    refuse_blocking(findings, SILENT)  # warnings were told before the build
    text = json.dumps([asdict(finding) for finding in findings], indent=2)
    (context.output / FINDINGS).write_text(text + "\n", encoding="utf-8")

"""How the reference backend builds: convert target and draft, check that they pair."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection
from dataclasses import asdict, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import trtspec
from trtspec.build.fingerprint import deciding_settings
from trtspec.build.gates import refuse_blocking
from trtspec.build.progress import SILENT
from trtspec.build.sources import Source, StageInputs
from trtspec.build.stage import Stage, StageContext
from trtspec.check import check_models, ignoring
from trtspec.check.rules import Rule
from trtspec.errors import FindingsError, Problem, UsageError
from trtspec.files import sha256_json
from trtspec.models.describe import describe
from trtspec.models.drafter import DrafterInfo, describe_drafter
from trtspec.reference.conversion import installed_version
from trtspec.reference.convert_stage import CONVERT, convert_stage

CHECK_VERSION = 1
"""Raised when the same pair would be judged in another way."""

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
        converted = tuple(convert_stage(source, dtype) for source in inputs.sources)
        if inputs.draft is None:
            return converted
        check = _check_pair_stage(inputs, inputs.draft, converted)
        return (*converted, check)


def _is_here(library: str) -> bool:
    return find_spec(library) is not None


def _check_pair_stage(
    given: StageInputs, draft: Source, converted: tuple[Stage, ...]
) -> Stage:
    compared = (
        "the token ids of target and draft model"
        if draft.kind == "model"
        else "the sizes of target and drafter"
    )
    inputs = {
        "trtspec": trtspec.__version__,
        "settings": sha256_json(deciding_settings(given.recipe)),
    }
    if given.ignored:  # what passed in spite of findings has not passed for others
        inputs["ignored"] = ", ".join(given.ignored)
    return Stage(
        name=CHECK_PAIR,
        version=CHECK_VERSION,
        inputs=inputs,
        action=partial(_check_pair, given, draft),
        summary=(f"compare {compared}",),
        uses=converted,
    )


def _check_pair(given: StageInputs, draft: Source, context: StageContext) -> None:
    recipe = given.recipe
    converted = context.inputs[CONVERT["draft"]]
    target = describe(context.inputs[CONVERT["target"]])
    if draft.kind == "model":
        findings = check_models(target, describe(converted), recipe)
    else:
        drafter = _described(draft, converted)
        findings = check_models(target, None, recipe, drafter=drafter)
    findings = ignoring(findings, given.ignored)
    refuse_blocking(findings, SILENT)  # warnings were told before the build
    text = json.dumps([asdict(finding) for finding in findings], indent=2)
    (context.output / FINDINGS).write_text(text + "\n", encoding="utf-8")


def _described(draft: Source, converted: Path) -> DrafterInfo:
    """Describe a converted drafter; what pickled weights are, shows only here.

    :raises FindingsError: if it is no drafter of the method, naming the one given.
    """
    try:
        return describe_drafter(converted, draft.kind, "reference")
    except UsageError as error:
        given = str(draft.directory)
        problems = [
            replace(problem, where=problem.where.replace(str(converted), given))
            for problem in error.problems
        ]
        raise FindingsError.from_problems(problems) from error

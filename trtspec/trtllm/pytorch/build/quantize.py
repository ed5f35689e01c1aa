"""The stage that quantizes the target model through NVIDIA ModelOpt."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

import trtspec
from trtspec.build.artifact import TARGET
from trtspec.build.command import run_command
from trtspec.build.sources import Source, StageInputs
from trtspec.build.stage import Stage, StageContext
from trtspec.errors import BuildError
from trtspec.files import sha256_file
from trtspec.models.files import SETTINGS
from trtspec.models.info import ModelInfo
from trtspec.recipe.pytorch import PyTorchOptions
from trtspec.recipe.schema import Recipe
from trtspec.recipe.workload import prompts_path
from trtspec.trtllm.libraries import library_inputs
from trtspec.trtllm.pytorch.build import modelopt_program
from trtspec.trtllm.pytorch.build.modelopt_program import Task
from trtspec.trtllm.pytorch.build.readback import require_quantized
from trtspec.trtllm.stored import ALGORITHMS, stored_quantization

QUANTIZE_TARGET = "quantize-target"
QUANTIZE_VERSION = 1
"""Raised when the same checkpoint and prompts would be quantized to other bytes."""
_BYTES_PER_WEIGHT = {"fp8": 1.1, "nvfp4": 0.7, "int4_awq": 0.7}
"""With scales and what stays unquantized, roughly: it guards against a full disk."""


def options(recipe: Recipe) -> PyTorchOptions:
    """Give the recipe's section ``pytorch``, or its defaults."""
    return recipe.pytorch or PyTorchOptions()


def asks_for_quantizing(recipe: Recipe) -> bool:
    """Whether the recipe wants weights that ModelOpt can make."""
    return recipe.target.quantization in ALGORITHMS


def is_to_be_quantized(recipe: Recipe, target: ModelInfo | None) -> bool:
    """Whether build must quantize the target; so unless it is known to be already."""
    if not asks_for_quantizing(recipe):
        return False
    return target is None or stored_quantization(target) == "none"


def calibration_prompts(recipe: Recipe, base: Path | None) -> Path | None:
    """Give the file of prompts to calibrate with; None if the recipe names none.

    :param base: directory that the recipe's paths start from.
    :raises UsageError: if the name means no file.
    """
    named = options(recipe).calibration_prompts
    if named is None and recipe.workload is not None:
        named = recipe.workload.prompts
    return None if named is None else prompts_path(base or Path(), named)


def quantize_stage(inputs: StageInputs) -> Stage:
    """Plan to quantize the target; what is not known yet is left out of the key."""
    recipe, source = inputs.recipe, inputs.target
    prompts = calibration_prompts(recipe, inputs.base)
    template = _template(inputs)
    digests = {
        name: sha256_file(path)
        for name, path in (("prompts", prompts), ("chat template", template))
        if path is not None and path.is_file()
    }
    chosen, method = options(recipe), recipe.target.quantization
    unless = "" if source.info else ", unless it is quantized already"
    summary = f"quantize the target to {method} with NVIDIA ModelOpt{unless}"
    return Stage(
        name=QUANTIZE_TARGET,
        version=QUANTIZE_VERSION,
        inputs={
            "quantization": method,
            "kv_cache": chosen.kv_cache,
            "dtype": recipe.target.dtype,
            "samples": str(chosen.calibration_samples),
            "tokens": str(recipe.limits.max_input_tokens),
            **digests,
            **{f"file {name}": sha for name, sha in (source.files or {}).items()},
            **library_inputs(),
        },
        action=partial(_quantize, inputs, prompts, template),
        summary=(summary,),
        needs_bytes=_needs(source, method),
        folder=TARGET,
    )


def _template(inputs: StageInputs) -> Path | None:
    named = inputs.recipe.target.chat_template
    return None if named is None else (inputs.base or Path()) / named


def _needs(source: Source, method: str) -> int:
    if not isinstance(source.info, ModelInfo):
        return 0
    return int(source.info.parameters * _BYTES_PER_WEIGHT[method])


def _quantize(
    inputs: StageInputs,
    prompts: Path | None,
    template: Path | None,
    context: StageContext,
) -> None:
    recipe, source = inputs.recipe, inputs.target
    assert source.directory is not None, "a build fetches its sources first"
    if prompts is None:
        raise BuildError(
            "there are no prompts to calibrate with",
            where="pytorch.calibration_prompts",
            action="add pytorch.calibration_prompts, or a workload",
        )
    chosen = options(recipe)
    task = Task(
        source=str(source.directory.absolute()),
        output=str(context.output.absolute()),
        settings=_settings(source),
        quantization=recipe.target.quantization,
        kv_cache=chosen.kv_cache,
        dtype=recipe.target.dtype,
        prompts=str(prompts.absolute()),
        samples=chosen.calibration_samples,
        max_tokens=recipe.limits.max_input_tokens,
        chat_template=None if template is None else str(template.absolute()),
    )
    run_command(
        [sys.executable, "-m", modelopt_program.__name__, json.dumps(asdict(task))],
        log_file=context.log_file,
        writes_to=context.output,
        environment=_environment(),
        watch=lambda line: context.progress.status(f"{QUANTIZE_TARGET}: {line}"),
        notes_in=context.output.parent,
    )
    require_quantized(context.output, task.quantization, task.kv_cache)


def _settings(source: Source) -> tuple[str, ...]:
    """Name the files that decide and are not weights."""
    return tuple(
        name
        for name in sorted(source.files or ())
        if any(fnmatch(name, pattern) for pattern in SETTINGS)
    )


def _environment() -> dict[str, str]:
    """Let the program import this very trtspec, and reach no network."""
    ours = str(Path(trtspec.__file__).parent.parent)
    path = os.pathsep.join(filter(None, (ours, os.environ.get("PYTHONPATH"))))
    offline = {"HF_HUB_OFFLINE": "1", "TQDM_DISABLE": "1", "PYTHONUNBUFFERED": "1"}
    return {**os.environ, "PYTHONPATH": path, **offline}

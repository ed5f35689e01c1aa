"""How a command checks a recipe: by its backend, for the GPUs that are asked about."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from trtspec.cli.asked_gpus import gpus_for
from trtspec.cli.common import backend_for

if TYPE_CHECKING:
    from trtspec.check import Finding
    from trtspec.check.checks import Find
    from trtspec.gpu_kinds import GpuRequest
    from trtspec.recipe.load import LoadedRecipe


def refuse_checkpoint(directory: Path) -> None:
    """Refuse a model or a drafter, which only a recipe says what to do with.

    :raises UsageError: saying what it is.
    """
    from trtspec.errors import RunError, UsageError
    from trtspec.models.config import CONFIG
    from trtspec.models.inspection import inspect
    from trtspec.models.json_file import read_json_object
    from trtspec.trtllm.engine.inspection import inspect_tensorrt

    config = directory / CONFIG
    if (directory / "manifest.json").exists() or not config.is_file():
        return
    try:
        read_json_object(config)
        engine = inspect_tensorrt(directory)
    except (UsageError, RunError):
        return  # of an engine that is damage, which is a finding
    found = inspect(directory)
    if engine is not None or found.kind is None:
        return
    raise UsageError(
        f"{directory} is a checkpoint ({found.title}), not a recipe",
        where="RECIPE",
        allowed="a recipe, an artifact that trtspec build made, or a directory that "
        "trtllm-build made",
        action=f"trtspec inspect {shlex.quote(str(directory))} says what it is; "
        "trtspec init writes a recipe that names it",
    )


def findings_of(
    loaded: LoadedRecipe,
    *,
    trtllm: str | None = None,
    examples: Path | None = None,
    gpu: GpuRequest | None = None,
    find: Find | None = None,
) -> list[Finding]:
    """Check a recipe, and whether what its backend needs is here.

    :param trtllm: a TensorRT-LLM version to assume in place of the installed one.
    :param examples: folder of its example scripts.
    :param gpu: GPUs to assume in place of those here.
    :param find: what looks at the models; by default anew each time.
    :raises UsageError: if the version or the folder is none.
    """
    from trtspec.build.gates import check_for
    from trtspec.check.resolve import resolve

    backend = backend_for(loaded.recipe, trtllm=trtllm, examples=examples, gpu=gpu)
    return check_for(
        loaded,
        backend,
        gpus=gpus_for(loaded.recipe, backend, gpu),
        missing=True,
        find=find or resolve,
    )

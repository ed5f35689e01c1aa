"""How a command checks a recipe: by its backend, for the GPUs that are asked about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from trtspec.cli.asked_gpus import gpus_for
from trtspec.cli.common import backend_for

if TYPE_CHECKING:
    from trtspec.check import Finding
    from trtspec.check.checks import Find
    from trtspec.gpu_kinds import GpuRequest
    from trtspec.recipe.load import LoadedRecipe


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
    from trtspec.check import check_recipe
    from trtspec.check.resolve import resolve

    backend = backend_for(loaded.recipe, trtllm=trtllm, examples=examples, gpu=gpu)
    return check_recipe(
        loaded,
        missing=backend.missing,
        rules=backend.rules,
        version=backend.version,
        gpus=gpus_for(loaded.recipe, backend, gpu),
        find=find or resolve,
    )

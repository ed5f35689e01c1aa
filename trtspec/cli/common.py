"""What several commands share: the backend by name, and machine-readable output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from trtspec.cli.json_output import print_document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtspec.build.backend import Backend
    from trtspec.check.finding import Finding
    from trtspec.gpu_kinds import GpuRequest
    from trtspec.recipe import Recipe
    from trtspec.trtllm.installation import Installation

json_option = click.option(
    "--json", "as_json", is_flag=True, help="One JSON document on stdout."
)


def _not_empty(ctx: click.Context, param: click.Parameter, value: str) -> str:
    if not value:
        raise click.BadParameter("an empty path names no directory")
    return value


engines_option = click.option(
    "--engines",
    default="engines",
    show_default=True,
    callback=_not_empty,
    type=click.Path(file_okay=False),
    help="Directory that holds the artifacts.",
)


trtllm_option = click.option(
    "--trtllm",
    metavar="VERSION",
    help="Stand-in for the installed TensorRT-LLM, such as 1.2.1.",
)
examples_option = click.option(
    "--examples",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of TensorRT-LLM's example scripts, of the installed version.",
)


def _ignorable(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    if not value:
        return value
    from trtspec.check.ignore import require_ignorable

    return require_ignorable(value)


ignore_option = click.option(
    "--ignore",
    metavar="RULE",
    multiple=True,
    callback=_ignorable,
    help="Go on in spite of a rule's findings; may be repeated. trtspec check "
    "--explain RULE says whether that can be.",
)


def installation_for(trtllm: str | None, examples: Path | None) -> Installation:
    """Describe the TensorRT-LLM in question: the one here, or what stands in for it.

    :param trtllm: a version to assume in place of the installed one.
    :param examples: folder of its example scripts.
    :raises UsageError: if the version or the folder is none.
    """
    from trtspec.trtllm.installation import assumed_for
    from trtspec.trtllm.probe import probe

    return probe(examples) if trtllm is None else assumed_for(trtllm, examples)


def backend_for(
    recipe: Recipe,
    *,
    trtllm: str | None = None,
    examples: Path | None = None,
    gpu: GpuRequest | None = None,
) -> Backend:
    """Give the backend that a recipe names, without importing torch.

    :param trtllm: a TensorRT-LLM version to assume in place of the installed one.
    :param examples: folder of its example scripts.
    :param gpu: GPUs to assume in place of those here.
    :raises UsageError: if the version or the folder is none.
    """
    if trtllm is not None:
        _require_version(trtllm, recipe)
    if recipe.backend == "reference":
        from trtspec.reference.backend import ReferenceBackend

        return ReferenceBackend()
    found = installation_for(trtllm, examples)
    if gpu is not None:
        from trtspec.cli.asked_gpus import with_gpus

        found = with_gpus(found, recipe, gpu)
    if recipe.backend == "tensorrt":
        from trtspec.trtllm.engine.backend import TensorRTBackend

        return TensorRTBackend(found, recipe)
    from trtspec.trtllm.pytorch.build.backend import PyTorchBackend

    return PyTorchBackend(found, recipe)


def _require_version(trtllm: str, recipe: Recipe) -> None:
    """Refuse what is no version, for every backend, or has nothing of backend pytorch.

    :raises UsageError: naming the option, with the releases that the backend has.
    """
    from trtspec.trtllm.facts.families import family_ranges
    from trtspec.trtllm.installation import OPTION, is_too_old
    from trtspec.trtllm.versions import parse

    version = parse(trtllm, where=OPTION)
    if recipe.backend != "pytorch" or not is_too_old(version):
        return
    from trtspec.errors import UsageError

    raise UsageError(
        f"TensorRT-LLM {version} is older than its backend pytorch",
        where=OPTION,
        allowed=" or ".join(family_ranges().values()),
        action="name a release that the recipe's backend is in",
    )


def require_available(
    backend: Backend, recipe: Recipe, *, building: bool = True
) -> None:
    """Refuse a recipe for TensorRT-LLM where there is no way to build or run it.

    :param building: whether it is to be built; running engines takes no builder.
    :raises BackendUnavailableError: with the ways on.
    """
    if recipe.backend == "tensorrt":
        from trtspec.trtllm.engine.backend import TensorRTBackend
        from trtspec.trtllm.removal import engine_problems, engine_unavailable

        assert isinstance(backend, TensorRTBackend), "the recipe names it"
        if engine_problems(backend.installation, building=building):
            raise engine_unavailable(backend.installation, recipe, building=building)
    elif recipe.backend == "pytorch":
        from trtspec.trtllm.pytorch.build.availability import (
            pytorch_problems,
            pytorch_unavailable,
        )
        from trtspec.trtllm.pytorch.build.backend import PyTorchBackend

        assert isinstance(backend, PyTorchBackend), "the recipe names it"
        if pytorch_problems(backend.installation, recipe):
            raise pytorch_unavailable(backend.installation, recipe)


def print_findings(recipe: str, findings: Sequence[Finding]) -> None:
    """Write the JSON document of what was found, with its verdict: blocked or ok."""
    from dataclasses import asdict

    from trtspec.check import is_blocked

    print_json(
        {
            "recipe": recipe,
            "verdict": "blocked" if is_blocked(findings) else "ok",
            "findings": [asdict(finding) for finding in findings],
        }
    )


def print_json(value: object) -> None:
    """Write one JSON document to stdout, in ASCII: any encoding can hold it."""
    print_document(value)

"""What several commands share: the backend by name, and machine-readable output."""

from __future__ import annotations

import json
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trtspec.errors import BackendUnavailableError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtspec.build.artifact import Artifact
    from trtspec.build.backend import Backend
    from trtspec.check.finding import Finding
    from trtspec.recipe import Recipe
    from trtspec.run import Runner

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
    help="Stand-in for the installed TensorRT-LLM, such as 1.2.1 (backend tensorrt).",
)
examples_option = click.option(
    "--examples",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of TensorRT-LLM's example scripts, of the installed version.",
)


def backend_for(
    recipe: Recipe, *, trtllm: str | None = None, examples: Path | None = None
) -> Backend:
    """Give the backend that a recipe names, without importing torch.

    :param trtllm: a TensorRT-LLM version to assume in place of the installed one.
    :param examples: folder of its example scripts.
    :raises BackendUnavailableError: for a backend that this version does not have.
    :raises UsageError: if the version or the folder is none.
    """
    if recipe.backend == "reference":
        from trtspec.reference.backend import ReferenceBackend

        return ReferenceBackend()
    if recipe.backend == "tensorrt":
        from trtspec.trtllm.engine.backend import TensorRTBackend
        from trtspec.trtllm.installation import assumed_for
        from trtspec.trtllm.probe import probe

        found = probe(examples) if trtllm is None else assumed_for(trtllm, examples)
        return TensorRTBackend(found, recipe)
    raise BackendUnavailableError(
        f"backend {recipe.backend!r} is not in this version of trtspec",
        allowed="reference, tensorrt",
        action="set backend: reference to run the recipe on this machine",
    )


def require_engines(backend: Backend, recipe: Recipe, *, building: bool = True) -> None:
    """Refuse a recipe for engines where there is no way to build or run them.

    :param building: whether engines are to be built; running them takes no builder.
    :raises BackendUnavailableError: with the ways on.
    """
    if recipe.backend != "tensorrt":
        return
    from trtspec.trtllm.engine.backend import TensorRTBackend
    from trtspec.trtllm.removal import engine_problems, engine_unavailable

    assert isinstance(backend, TensorRTBackend), "the recipe names it"
    if engine_problems(backend.installation, building=building):
        raise engine_unavailable(backend.installation, recipe, building=building)


def runner_for(
    artifact: Artifact, *, device: str | None, threads: int | None
) -> Runner:
    """Load an artifact with the backend that it was built for.

    :param device: torch device of backend reference; None for the CPU.
    :param threads: CPU threads of backend reference; None for its default.
    :raises BackendUnavailableError: if that backend is not installed here.
    :raises UsageError: for a device or threads with another backend.
    """
    from trtspec.build.gates import require_backend

    backend = backend_for(artifact.recipe)
    if artifact.recipe.backend == "tensorrt":
        _refuse_torch_options(device, threads)
        from trtspec.trtllm.engine.run import open_runner as open_engines
        from trtspec.trtllm.probe import probe

        require_engines(backend, artifact.recipe, building=False)
        reserve_stdout()
        with redirect_stdout(sys.stderr):  # its banner is printed by Python
            return open_engines(artifact, probe())
    require_backend(backend)
    from trtspec.reference.runner import open_runner

    return open_runner(artifact, device=device or "cpu", threads=threads)


def _refuse_torch_options(device: str | None, threads: int | None) -> None:
    given = {"--device": device, "--threads": threads}
    for option, value in given.items():
        if value is not None:
            raise UsageError(
                f"{value} has no effect: backend tensorrt runs on the first GPUs that "
                "CUDA_VISIBLE_DEVICES shows",
                where=option,
                action=f"leave {option} out",
            )


def reserve_stdout() -> None:
    """Keep stdout for results: TensorRT-LLM's C++ code writes its log there.

    From here on, what else is written to the file descriptor goes to stderr.
    """
    if sys.stdout is not sys.__stdout__ or sys.stdout is None:
        return  # somebody else collects it already
    sys.stdout.flush()
    ours = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.stdout = os.fdopen(
        ours, "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors
    )


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
    """Write one JSON document to stdout."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))

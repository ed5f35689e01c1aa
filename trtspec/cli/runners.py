"""How a command gets the runner of an artifact, with stdout kept for results."""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from trtspec.cli.common import backend_for, require_available
from trtspec.errors import UsageError

if TYPE_CHECKING:
    from trtspec.build.artifact import Artifact
    from trtspec.build.progress import Progress
    from trtspec.recipe import Recipe
    from trtspec.run import Asked, Runner


def runner_for(
    artifact: Artifact,
    *,
    device: str | None,
    threads: int | None,
    url: str | None = None,
    server: bool = False,
    progress: Progress | None = None,
    beside: tuple[Artifact, Runner] | None = None,
) -> Runner:
    """Load an artifact with the backend that it was built for.

    :param device: torch device of backend reference; None for the CPU.
    :param threads: CPU threads of backend reference; None for its default.
    :param url: of a running trtllm-serve of the artifact, for backend pytorch.
    :param server: run through a server of its own, for backend pytorch.
    :param progress: told of that server's start and end; None tells nobody.
    :param beside: another artifact that is loaded already; backend reference shares
        its target model if it is the same.
    :raises BackendUnavailableError: if that backend is not installed here.
    :raises UsageError: for what another backend has.
    """
    from trtspec.build.gates import require_backend

    if artifact.recipe.backend == "pytorch":
        return _pytorch_runner(
            artifact, device, threads, url, server=server, progress=progress
        )
    refuse_servers(artifact.recipe, url, server=server)
    backend = backend_for(artifact.recipe)
    if artifact.recipe.backend == "tensorrt":
        refuse_torch_options(artifact.recipe, device, threads)
        from trtspec.trtllm.engine.run import open_runner as open_engines
        from trtspec.trtllm.probe import probe

        require_available(backend, artifact.recipe, building=False)
        reserve_stdout()
        with redirect_stdout(sys.stderr):  # its banner is printed by Python
            return open_engines(artifact, probe())
    require_backend(backend)
    from trtspec.reference.runner import ReferenceRunner, open_runner, same_target

    lender = None
    if beside and isinstance(beside[1], ReferenceRunner):
        lender = beside[1] if same_target(beside[0], artifact) else None
    return open_runner(artifact, device=device or "cpu", threads=threads, lender=lender)


def refuse_early(
    recipe: Recipe, asked: Asked, prompt_id: str, url: str | None, *, server: bool
) -> None:
    """Refuse, before anything is loaded or started, what backend pytorch would refuse.

    :param prompt_id: the first prompt's, for messages.
    :param url: of a running server, whose release is not known before it is asked.
    :raises UsageError: with the option or the request.
    """
    if recipe.backend != "pytorch":
        return
    from trtspec.trtllm.probe import probe
    from trtspec.trtllm.pytorch.run.early import require_possible

    version = None if url is not None else probe().version
    http = server or url is not None
    require_possible(asked, prompt_id, recipe, version, http=http)


def _pytorch_runner(
    artifact: Artifact,
    device: str | None,
    threads: int | None,
    url: str | None,
    *,
    server: bool,
    progress: Progress | None,
) -> Runner:
    from trtspec.build.progress import SILENT
    from trtspec.trtllm.probe import probe
    from trtspec.trtllm.pytorch.run import open_artifact

    refuse_torch_options(artifact.recipe, device, threads)
    if url is not None:
        return open_artifact(artifact, probe(), url)
    reserve_stdout()
    with redirect_stdout(sys.stderr):  # TensorRT-LLM's banner is printed by Python
        return open_artifact(
            artifact, probe(), server=server, progress=progress or SILENT
        )


def refuse_servers(recipe: Recipe, url: str | None, *, server: bool) -> None:
    """Refuse options of servers for a backend that runs in this process.

    :raises UsageError: naming the option.
    """
    for option, given in (("--url", url is not None), ("--server", server)):
        if given:
            raise UsageError(
                f"backend {recipe.backend} runs in this process",
                where=option,
                action=f"leave {option} out, or run a recipe with backend: pytorch",
            )


def refuse_torch_options(
    recipe: Recipe, device: str | None, threads: int | None
) -> None:
    """Refuse options of torch for a backend that chooses its devices itself.

    :raises UsageError: naming the option.
    """
    given = {"--device": device, "--threads": threads}
    for option, value in given.items():
        if value is not None:
            raise UsageError(
                f"{value} has no effect: backend {recipe.backend} runs on the first "
                "GPUs that CUDA_VISIBLE_DEVICES shows",
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

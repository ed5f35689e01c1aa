"""What several commands share: the backend by name, and machine-readable output."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from trtspec.errors import BackendUnavailableError

if TYPE_CHECKING:
    from trtspec.build.artifact import Artifact
    from trtspec.build.backend import Backend
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


def backend_for(name: str) -> Backend:
    """Give the backend that a recipe names, without importing torch.

    :raises BackendUnavailableError: for a backend that this version does not have.
    """
    if name == "reference":
        from trtspec.reference.backend import ReferenceBackend

        return ReferenceBackend()
    raise BackendUnavailableError(
        f"backend {name!r} is not in this version of trtspec",
        allowed="reference",
        action="set backend: reference to run the recipe on this machine",
    )


def runner_for(artifact: Artifact, *, device: str, threads: int | None) -> Runner:
    """Load an artifact with the backend that it was built for.

    :raises BackendUnavailableError: if that backend is not installed here.
    """
    from trtspec.build.gates import require_backend

    require_backend(backend_for(artifact.recipe.backend))
    from trtspec.reference.runner import open_runner

    return open_runner(artifact, device=device, threads=threads)


def print_json(value: object) -> None:
    """Write one JSON document to stdout."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))

"""What ``trtspec plan`` says of how an artifact of backend pytorch is served."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from trtspec.cli.common import print_json
from trtspec.cli.paths import write_output
from trtspec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packaging.version import Version

    from trtspec.build.backend import Backend
    from trtspec.build.plan import Plan
    from trtspec.recipe import Recipe

Launcher = Literal["mpirun", "slurm"]
_INDENT = " " * 6


def require_launcher(
    recipe: Recipe, launcher: Launcher | None, output: Path | None
) -> None:
    """Refuse options that mean nothing for the recipe.

    :raises UsageError: naming the option.
    """
    if launcher is None and output is not None:
        raise UsageError(
            f"{output} would hold nothing: there is no launcher's script",
            where="--output",
            action="add --launcher mpirun or --launcher slurm",
        )
    if launcher is not None and recipe.backend != "pytorch":
        raise UsageError(
            f"backend {recipe.backend} is not served through a launcher",
            where="--launcher",
            allowed="a recipe with backend: pytorch",
            action="leave --launcher out",
        )


def show_script(
    recipe: Recipe,
    backend: Backend,
    plan: Plan,
    launcher: Launcher,
    output: Path | None,
    *,
    as_json: bool,
) -> None:
    """Print the launcher's script, or write it to a file in one step.

    :raises UsageError: if the file cannot be written.
    """
    script = _script(recipe, backend, plan, launcher)
    if output is not None:
        write_output(output, script, executable=True)
    if as_json:
        print_json({"launcher": launcher, "script": script, "artifact": plan.artifact})
    elif output is None:
        click.echo(script, nl=False)
    else:
        which = plan.artifact or "the artifact that TRTSPEC_ARTIFACT names"
        click.echo(f"wrote {output}, which serves {which} once it is built")


def _script(recipe: Recipe, backend: Backend, plan: Plan, launcher: Launcher) -> str:
    from trtspec.trtllm.pytorch.launch.scripts import launcher_script

    # one that is not known before the build is named when the script runs
    artifact = str(Path(plan.artifact).absolute()) if plan.artifact else ""
    return launcher_script(recipe, _version(backend), launcher, artifact=artifact)


def launch_document(recipe: Recipe, backend: Backend, plan: Plan) -> dict[str, object]:
    """Give the configuration, as text and as data, and the command that serves it."""
    from trtspec.trtllm.pytorch.build.configure import LLM_ARGS, read_args

    texts = _texts(plan)
    return {
        "yaml": texts[LLM_ARGS],
        "llm_args": read_args(texts),
        "command": list(_command(recipe, backend, plan)),
    }


def launch_lines(recipe: Recipe, backend: Backend, plan: Plan) -> Iterator[str]:
    """Show the configuration with the reason for each line, then the command."""
    from trtspec.trtllm.pytorch.build.configure import LAUNCH, LLM_ARGS

    yield f"{LAUNCH}/{LLM_ARGS}"
    for line in _texts(plan)[LLM_ARGS].splitlines():
        yield f"{_INDENT}{line}".rstrip()
    yield "serve        in the artifact's directory:"
    yield f"{_INDENT}{shlex.join(_command(recipe, backend, plan))}"


def _texts(plan: Plan) -> dict[str, str]:
    return {name: text for stage in plan.stages for name, text in stage.texts.items()}


def _command(recipe: Recipe, backend: Backend, plan: Plan) -> tuple[str, ...]:
    """Give the command; before the fingerprint is known, with a word for it."""
    from trtspec.build.alias import alias_path
    from trtspec.trtllm.pytorch.launch.command import serve_command

    name = Path(plan.artifact).name if plan.artifact else f"{recipe.name}-FINGERPRINT"
    return serve_command(recipe, _version(backend), model=alias_path(name))


def _version(backend: Backend) -> Version:
    assert backend.version is not None, "a plan has one"
    return backend.version

"""``trtspec plan``: what build would do, without doing it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from trtspec.cli.asked_gpus import gpu_option, gpus_for
from trtspec.cli.common import (
    backend_for,
    engines_option,
    examples_option,
    ignore_option,
    json_option,
    print_findings,
    print_json,
    require_available,
    trtllm_option,
)
from trtspec.cli.paths import InputPath, OutputPath

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtspec.build.backend import Backend
    from trtspec.build.plan import Plan
    from trtspec.build.planned import PlannedStage
    from trtspec.gpu_kinds import GpuRequest
    from trtspec.recipe import Recipe

_WIDEST = 96
_INDENT = " " * 6


@click.command()
@click.argument("recipe", type=InputPath())
@engines_option
@trtllm_option
@examples_option
@gpu_option
@click.option(
    "--launcher",
    type=click.Choice(["mpirun", "slurm"]),
    help="Show the script that serves on several nodes in place of the plan (backend "
    "pytorch).",
)
@click.option(
    "--output",
    type=OutputPath(),
    help="Write the launcher's script to this file.",
)
@ignore_option
@json_option
def command(
    *,
    recipe: str,
    engines: str,
    trtllm: str | None,
    examples: Path | None,
    gpu: GpuRequest | None,
    launcher: Literal["mpirun", "slurm"] | None,
    output: Path | None,
    ignore: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show what build would do for RECIPE; nothing is downloaded, built or run.

    Lists also what a build would lack here; warnings are told on stderr. For backend
    pytorch that is the LLM API's YAML, with the reason for every line, and the command
    that serves it. Exits with 3 if a finding is blocking, and with 4 where there is no
    way to build for the recipe's backend.

    \b
    Examples:
      trtspec plan recipes/smollm2-135m/ngram.yaml
      trtspec plan RECIPE --trtllm 1.2.1 --launcher slurm --output serve.sbatch
    """  # noqa: D301  click wants the backspace itself
    from trtspec.build.gates import check_for, refuse_blocking, tell_unused
    from trtspec.build.plan import make_plan
    from trtspec.check import ignoring, is_blocked
    from trtspec.cli.artifact import terminal_progress
    from trtspec.cli.launching import require_launcher, show_script
    from trtspec.cli.memory_text import memory_document, memory_lines, told_document
    from trtspec.recipe.load import load_recipe

    loaded = load_recipe(recipe)
    require_launcher(loaded.recipe, launcher, output)
    backend = backend_for(loaded.recipe, trtllm=trtllm, examples=examples, gpu=gpu)
    require_available(backend, loaded.recipe)
    found = check_for(loaded, backend, gpus=gpus_for(loaded.recipe, backend, gpu))
    findings = ignoring(found, ignore)
    if as_json and is_blocked(findings):
        print_findings(recipe, findings)
    progress = terminal_progress(err=True)
    tell_unused(findings, ignore, progress)
    refuse_blocking(findings, progress)  # what build refuses has no plan
    plan = make_plan(loaded, backend, Path(engines), ignored=ignore)
    if launcher is not None:
        show_script(loaded.recipe, backend, plan, launcher, output, as_json=as_json)
    elif as_json:
        document = _document(plan, loaded.recipe, backend)
        print_json(document | told_document(findings) | memory_document(findings))
    else:
        lines = _lines(plan, engines, loaded.recipe, backend)
        click.echo("\n".join([*lines, *memory_lines(findings)]))


def _document(plan: Plan, recipe: Recipe, backend: Backend) -> dict[str, object]:
    from dataclasses import asdict

    from trtspec.cli.launching import launch_document

    document = {**asdict(plan), "needs_bytes": plan.needs_bytes}
    if plan.backend == "pytorch":
        document["launch"] = launch_document(recipe, backend, plan)
    return document


def _lines(plan: Plan, engines: str, recipe: Recipe, backend: Backend) -> list[str]:
    from trtspec.build.space import human_bytes
    from trtspec.cli.launching import launch_lines

    lines = [f"{plan.name} on backend {plan.backend}"]
    for stage in plan.stages:
        size = f"  ({human_bytes(stage.needs_bytes)})" if stage.needs_bytes else ""
        what = "; ".join(stage.summary)
        lines.append(f"  {stage.name:<16}{stage.action:<7}{what}{size}")
        lines += _command_lines(stage)
    if plan.backend == "pytorch":
        lines += launch_lines(recipe, backend, plan)
    lines += [f"link         {name} -> {to}" for name, to in plan.links.items()]
    lines += [f"ignored      {rule}" for rule in plan.ignored]
    lines += [f"missing      {text}" for text in plan.missing]
    lines += [f"download     {text}" for text in plan.downloads]
    needs, free = human_bytes(plan.needs_bytes), human_bytes(plan.free_bytes)
    needs = "not known yet what is" if plan.unknown else needs
    lines.append(f"disk         {needs} needed, {free} free in {engines}")
    if plan.unknown:
        lines.append(f"fingerprint  not known yet: {plan.unknown}")
    else:
        lines.append(f"fingerprint  {plan.fingerprint}")
        lines.append(f"artifact     {plan.artifact}")
    return lines


def _command_lines(stage: PlannedStage) -> Iterator[str]:
    """Write a stage's command as a shell takes it, a flag and its values per line."""
    if not stage.command:
        return
    variables = [f"{k}={shlex.quote(v)}" for k, v in stage.environment.items()]
    words: list[list[str]] = [[]]
    for argument in (*variables, *map(shlex.quote, stage.command)):
        if argument.startswith("--"):
            words.append([])
        words[-1].append(argument)
    text = " ".join(words[0])
    for flag in (" ".join(flag) for flag in words[1:]):
        if len(text) + len(flag) > _WIDEST:
            yield f"{_INDENT}{text} \\"
            text = " "
        text += f" {flag}"
    yield f"{_INDENT}{text}"

"""``trtspec check``: what would go wrong, before anything slow happens."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from trtspec.cli.asked_gpus import gpu_option
from trtspec.cli.checking import findings_of
from trtspec.cli.common import (
    examples_option,
    ignore_option,
    installation_for,
    json_option,
    print_findings,
    trtllm_option,
)
from trtspec.cli.paths import InputPath
from trtspec.errors import FindingsError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtspec.check.finding import Finding
    from trtspec.gpu_kinds import GpuRequest
    from trtspec.trtllm.runtime import Runtime


@click.command("check")
@click.argument("recipe", type=InputPath(), required=False)
@trtllm_option
@examples_option
@gpu_option
@ignore_option
@click.option(
    "--for",
    "for_recipe",
    metavar="RECIPE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="What a directory that trtllm-build made is to do; an artifact says itself.",
)
@click.option(
    "--explain",
    metavar="RULE",
    help="Say what a rule finds, why that matters and what to do; a theme such as "
    "limits lists its rules, all lists them all.",
)
@json_option
def command(
    *,
    recipe: str | None,
    trtllm: str | None,
    examples: Path | None,
    gpu: GpuRequest | None,
    ignore: tuple[str, ...],
    for_recipe: Path | None,
    explain: str | None,
    as_json: bool,
) -> None:
    """Find what would go wrong with RECIPE before anything slow happens.

    Looks at the recipe, the models' configuration and headers, the workload, and this
    machine; downloads nothing. Exits with 3 if a finding is blocking. A directory in
    place of RECIPE is an artifact, or engines: whether they would run.

    \b
    Examples:
      trtspec check recipes/smollm2-135m/ngram.yaml
      trtspec check engines/NAME-FINGERPRINT --trtllm 1.2.1 --gpu h100
      trtspec check --explain token-ids
    """  # noqa: D301  click wants the backspace itself
    if explain is not None:
        from trtspec.cli.explaining import explain as explain_rules

        explain_rules(explain, recipe, as_json=as_json)
        return
    if recipe is None:
        raise UsageError(
            "no recipe is given",
            where="RECIPE",
            action="trtspec check RECIPE; trtspec check --explain all lists the rules",
        )
    from trtspec.recipe.load import load_recipe

    if Path(recipe).is_dir():
        from trtspec.cli.checking import refuse_checkpoint
        from trtspec.trtllm.built import built_findings

        refuse_checkpoint(Path(recipe))
        runtime = _runtime(trtllm, examples, gpu)
        found = built_findings(Path(recipe), for_recipe, runtime)
        _report(recipe, found, ignore, as_json=as_json)
        return
    if for_recipe is not None:
        raise UsageError(
            f"{recipe} is a recipe itself", where="--for", action="leave --for out"
        )
    loaded = load_recipe(recipe)
    findings = findings_of(loaded, trtllm=trtllm, examples=examples, gpu=gpu)
    _report(recipe, findings, ignore, as_json=as_json)


def _runtime(
    trtllm: str | None, examples: Path | None, gpu: GpuRequest | None
) -> Runtime:
    """Describe what is to run a directory: what is here, or what stands in for it."""
    from trtspec.gpu_kinds import as_gpu
    from trtspec.trtllm.runtime import Runtime

    found = installation_for(trtllm, examples)
    return Runtime(found, as_gpu(gpu.kind), gpu.count) if gpu else Runtime(found)


def _report(
    recipe: str,
    findings: Sequence[Finding],
    ignore: tuple[str, ...],
    *,
    as_json: bool,
) -> None:
    """Show what was found.

    :raises FindingsError: if anything of it blocks.
    """
    from trtspec.build.gates import tell_unused
    from trtspec.check import ignoring, is_blocked
    from trtspec.cli.artifact import terminal_progress
    from trtspec.cli.finding_text import counted, finding_lines

    findings = ignoring(findings, ignore)
    tell_unused(findings, ignore, terminal_progress(err=True))
    blocked = is_blocked(findings)
    if as_json:
        print_findings(recipe, findings)
    else:
        for finding in findings:
            click.echo("\n".join(finding_lines(finding, ignore)) + "\n")
    if blocked:
        raise FindingsError(f"blocked: {counted(findings)}", where=recipe, action="")
    if not as_json:
        click.echo(f"ok: nothing blocks {recipe} ({counted(findings)})")

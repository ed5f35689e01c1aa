"""``trtspec check``: what would go wrong, before anything slow happens."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trtspec.cli.common import (
    backend_for,
    examples_option,
    json_option,
    print_findings,
    trtllm_option,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtspec.check.finding import Finding

_WIDEST = 80
_COLOURS = {"blocking": "red", "warning": "yellow", "note": "cyan"}
_LABELS = {"where": "where", "what": "what", "why": "why", "action": "do"}
_INDENT = "  "
_LABEL_WIDTH = 6


@click.command("check")
@click.argument("recipe", type=click.Path())
@trtllm_option
@examples_option
@json_option
def command(
    recipe: str, trtllm: str | None, examples: Path | None, as_json: bool
) -> None:
    """Find what would go wrong with RECIPE before anything slow happens.

    Looks at the recipe, the models' configuration and headers, the workload, and this
    machine; downloads nothing. Exits with 3 if a finding is blocking.

    \b
    Example:
      trtspec check recipes/smollm2-135m/ngram.yaml
    """  # noqa: D301  click wants the backspace itself
    from trtspec.check import check_recipe, is_blocked
    from trtspec.errors import FindingsError
    from trtspec.recipe.load import load_recipe

    loaded = load_recipe(recipe)
    backend = backend_for(loaded.recipe, trtllm=trtllm, examples=examples)
    findings = check_recipe(
        loaded,
        missing=backend.missing,
        rules=backend.rules,
        version=backend.version,
    )
    blocked = is_blocked(findings)
    if as_json:
        print_findings(recipe, findings)
    else:
        for finding in findings:
            click.echo("\n".join(_block(finding)) + "\n")
    if blocked:
        raise FindingsError(f"blocked: {_counted(findings)}", where=recipe, action="")
    if not as_json:
        click.echo(f"ok: nothing blocks {recipe} ({_counted(findings)})")


def _block(finding: Finding) -> Iterator[str]:
    """Lay one finding out: severity and rule, then one labelled paragraph per fact."""
    colour = _COLOURS[finding.severity]
    yield f"{click.style(finding.severity, fg=colour, bold=True)}: {finding.rule}"
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    for field, label in _LABELS.items():
        if text := getattr(finding, field):
            yield from _lines(text, label, width)


def _lines(text: str, label: str, width: int) -> Iterator[str]:
    """Wrap every line of a text by itself; what is indented is kept to be copied."""
    first = f"{_INDENT}{label:<{_LABEL_WIDTH}}"
    rest = " " * len(first)
    for index, line in enumerate(text.splitlines()):
        if index and line.startswith(" "):
            yield line
            continue
        yield textwrap.fill(
            line,
            width,
            initial_indent=rest if index else first,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        )


def _counted(findings: Sequence[Finding]) -> str:
    """Say how many findings of each severity there are: ``1 blocking, 2 notes``."""
    counts = dict.fromkeys(_COLOURS, 0)
    for finding in findings:
        counts[finding.severity] += 1
    parts = [
        f"{count} {name}{'s' if count > 1 and name != 'blocking' else ''}"
        for name, count in counts.items()
        if count
    ]
    return ", ".join(parts) or "no findings"

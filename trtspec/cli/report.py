"""``trtspec report``: a measurement as Markdown for a pull request, or as a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trtspec.cli.common import json_option, print_json
from trtspec.cli.paths import InputPath, OutputPath, write_output

if TYPE_CHECKING:
    from trtspec.bench.cells import Cell
    from trtspec.bench.ratio import Ratio
    from trtspec.report.load import Loaded


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=InputPath(path_type=Path))
@click.option("--html", type=OutputPath(), help="Write one self-contained page.")
@click.option("--markdown", type=OutputPath(), help="Write Markdown to a file.")
@click.option(
    "--aiperf",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write every load and arm as AIPerf would have, into this directory.",
)
@click.option(
    "--allow-different",
    "allowed",
    metavar="KEY",
    multiple=True,
    help="Compare runs although this condition differs, and say so in the report; may "
    "be repeated.",
)
@json_option
def command(
    *,
    runs: tuple[Path, ...],
    html: Path | None,
    markdown: Path | None,
    aiperf: Path | None,
    allowed: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show runs of trtspec bench: the verdict first, then all that it stands on.

    Markdown goes to stdout if no file is named. A run that was stopped is shown as far
    as it went, marked partial. Several runs are compared, if their conditions agree in
    what matters. A result of trtllm-bench --report_json or of AIPerf is shown, too,
    without a claim.

    \b
    Examples:
      trtspec report runs/TIME-NAME
      trtspec report runs/TIME-NAME --html report.html --markdown report.md
      trtspec report runs/A runs/B --allow-different conditions.hardware.cpu
    """  # noqa: D301  click wants the backspace itself
    from trtspec.report.build import build_document
    from trtspec.report.load import load_all
    from trtspec.report.markdown import to_markdown

    loaded = load_all(runs, allowed)
    for key in loaded.unneeded:
        click.echo(f"note: --allow-different {key}: nothing there differs", err=True)
    document = build_document(loaded)
    if html:
        from trtspec.report.html import to_html

        write_output(html, to_html(document), option="--html")
    if markdown:
        write_output(markdown, to_markdown(document), option="--markdown")
    written = [*filter(None, (html, markdown)), *_exported(loaded, aiperf)]
    if as_json:
        print_json({**_document(loaded), **_written(html, markdown, aiperf)})
    elif written:
        for path in written:
            click.echo(f"written: {path}")
    else:
        click.echo(to_markdown(document), nl=False)


def _exported(loaded: Loaded, directory: Path | None) -> list[Path]:
    """Write AIPerf's files: of several runs, each in a directory of its own."""
    if directory is None:
        return []
    from trtspec.bench.interchange import export_aiperf

    alone = len(loaded.runs) == 1
    return [
        folder
        for run in loaded.runs
        for folder in export_aiperf(
            run, directory if alone else directory / run.path.resolve().name
        )
    ]


def _written(
    html: Path | None, markdown: Path | None, aiperf: Path | None
) -> dict[str, str | None]:
    places = {"html": html, "markdown": markdown, "aiperf": aiperf}
    return {name: str(path) if path else None for name, path in places.items()}


def _document(loaded: Loaded) -> dict[str, Any]:
    """Give the verdicts of every run; the rest is in its result.json."""
    return {
        "runs": [
            {
                "run": str(run.path),
                "name": run.result.plan.name,
                "partial": run.result.partial,
                "cells": [_cell(cell) for cell in run.result.cells],
                "break_even": {
                    name: found.model_dump(mode="json")
                    for name, found in run.result.break_even.items()
                },
            }
            for run in loaded.runs
        ],
        "foreign": [{"file": f.file, "tool": f.tool} for f in loaded.foreign],
        "allowed_different": [
            {"run": d.run, **d.difference.model_dump(mode="json")}
            for d in loaded.differing
            if d.difference.matters
        ],
    }


def _cell(cell: Cell) -> dict[str, Any]:
    from trtspec.report.speed import speed_of

    return {
        "load": cell.load.key,
        "failures": len(cell.failures),
        "blocks": cell.blocks,
        "candidates": {
            name: {
                "verdict": comparison.verdict.word,
                "reason": comparison.verdict.reason,
                "speed": _dumped(speed_of(cell.load, comparison)),
                "output_throughput": _dumped(comparison.ratios["output_throughput"]),
                "lossy": comparison.lossy,
                "doubts": [doubt.id for doubt in comparison.doubts],
            }
            for name, comparison in cell.comparisons.items()
        },
    }


def _dumped(ratio: Ratio | None) -> dict[str, Any] | None:
    return ratio.model_dump(mode="json") if ratio else None

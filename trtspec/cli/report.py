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
    from trtspec.report.tuning.load import LoadedTuning

GITHUB_COMMENT = 65_536
"""Characters of a comment; beyond, GitHub's API answers: body is too long."""


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=InputPath(path_type=Path))
@click.option(
    "--html", type=OutputPath(), help="Write one page, self-contained, to a file."
)
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
    help="Compare runs although this condition differs (a KEY as the refusal names it, "
    "or what it begins with), and say so in the report. May be repeated.",
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
    as it went, marked partial. Several runs, such as last week's and today's, are
    compared if their conditions agree in what matters; else the differences are listed.
    A result of trtllm-bench --report_json or of AIPerf is shown, too, without a claim.
    A directory of trtspec tune becomes a page of the choice and its surface, a document
    of trtspec verify one of its verdict.

    \b
    Examples:
      trtspec report runs/TIME-NAME
      trtspec report runs/TIME-NAME --html report.html --markdown report.md
      trtspec report tunings/TIME-NAME --html tuning.html
      trtspec report runs/A runs/B --allow-different conditions.hardware.cpu
    """  # noqa: D301  click wants the backspace itself
    from trtspec.report.build import build_document
    from trtspec.report.load import differing_file, load_all
    from trtspec.report.markdown import to_markdown

    _require_apart(html, markdown, runs)
    loaded = load_all(runs, allowed)
    for run in loaded.runs:
        if run.file_differs:
            click.echo(f"note: {differing_file(run)}", err=True)
    for key in loaded.unneeded:
        click.echo(f"note: --allow-different {key}: nothing there differs", err=True)
    document = build_document(loaded)
    if html:
        from trtspec.report.html import to_html

        write_output(html, to_html(document), option="--html")
    if markdown:
        text = to_markdown(document)
        write_output(markdown, text, option="--markdown")
        _tell_length(text)
    written = [*filter(None, (html, markdown)), *_exported(loaded, aiperf)]
    if as_json:
        print_json({**_document(loaded), **_written(html, markdown, aiperf)})
    elif written:
        for path in written:
            click.echo(f"written: {path}")
    else:
        text = to_markdown(document)
        click.echo(text, nl=False)
        _tell_length(text)


def _tell_length(text: str) -> None:
    """Warn of Markdown that GitHub would refuse as a comment."""
    if len(text) > GITHUB_COMMENT:
        click.echo(
            f"note: {len(text):,} characters; GitHub takes {GITHUB_COMMENT:,} in a "
            "comment: attach the file, or a page by --html",
            err=True,
        )


def _require_apart(
    html: Path | None, markdown: Path | None, runs: tuple[Path, ...]
) -> None:
    """Refuse to write one output over another, or over what is read.

    :raises UsageError: naming the option.
    """
    from trtspec.bench.rundir import FILES
    from trtspec.errors import UsageError

    read = {p.resolve() for run in runs for p in (run, *(run / f for f in FILES))}
    read |= {(run.parent / name).resolve() for run in runs for name in FILES}
    for option, path in (("--html", html), ("--markdown", markdown)):
        if path is None:
            continue
        what = "it is what the report is made of" if path.resolve() in read else ""
        if option == "--markdown" and html and path.resolve() == html.resolve():
            what = "--html names the same file"
        if what:
            raise UsageError(what, where=f"{option} {path}", action="name another file")


def _exported(loaded: Loaded, directory: Path | None) -> list[Path]:
    """Write AIPerf's files: of several runs, each in a directory of its own."""
    if directory is None:
        return []
    from trtspec.bench.interchange import export_aiperf

    places = {}
    for run in loaded.runs:
        place = directory
        if len(loaded.runs) > 1:
            place = directory / run.path.resolve().name
        while place in places:  # runs of one name, from several places
            place = place.with_name(f"{place.name}-")
        places[place] = run
    return [
        folder for place, run in places.items() for folder in export_aiperf(run, place)
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
        "tunings": [_tuning(found) for found in loaded.tunings],
        "verifications": [
            {"file": str(v.path), "verdict": v.document.verdict}
            for v in loaded.verifications
        ],
        "foreign": [{"file": f.file, "tool": f.tool} for f in loaded.foreign],
        "allowed_different": [
            {"run": d.run, **d.difference.model_dump(mode="json")}
            for d in loaded.differing
            if d.difference.matters
        ],
    }


def _tuning(found: LoadedTuning) -> dict[str, Any]:
    """Give a tuning's choice; the rest is in its result.json."""
    best = found.result.best
    return {
        "tuning": str(found.path),
        "recipe": best.recipe,
        "draft_length": best.draft_length,
        "loads": [
            {**load.model_dump(mode="json"), "verdict": load.word}
            for load in best.loads
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

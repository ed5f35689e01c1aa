"""How the candidates of several runs stand beside one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trtspec.bench.cells import Cell
from trtspec.bench.compare import THROUGHPUT
from trtspec.report import numbers
from trtspec.report.document import Block, Chapter, Details, Section, Table
from trtspec.report.load import Differing
from trtspec.report.sections.words import word_of
from trtspec.report.speed import speed_in
from trtspec.report.view import RunView

_COLUMNS = (
    "load",
    "run",
    "arm",
    "verdict",
    "output tokens/s",
    "speed / off",
    "E2E p50 / off",
    "acceptance length",
    "smallest visible",
)
_LEAD = (
    "Every ratio is that of a candidate to the off arm of its own run. Runs were not "
    "measured in one another's rounds, so tokens per second of two runs differ by "
    "their days, too; the off rows show by how much. Speed is output throughput; in an "
    "open loop, where the arrivals set that, E2E p50."
)


def comparison_chapter(
    views: Sequence[RunView], differing: Sequence[Differing]
) -> Chapter:
    """Lay all arms of all runs under one another, load by load."""
    loads = dict.fromkeys(cell.load.words for v in views for cell in v.cells)
    rows = [
        row
        for load in loads
        for name, view in zip(_marked_names(views), views, strict=True)
        for cell in view.cells
        if cell.load.words == load
        for row in _rows(name, view, cell)
    ]
    blocks: list[Block] = [Table.of(_COLUMNS, rows, words=4)]
    if differing:
        blocks.append(_differences(differing))
    section = Section("All candidates", tuple(blocks), _LEAD)
    return Chapter("Comparison", f"{len(views)} runs", (), (section,))


def _differences(differing: Sequence[Differing]) -> Details:
    rows = [
        (
            d.difference.key,
            d.run,
            "matters, allowed" if d.difference.matters else "does not",
            numbers.short_hashes(numbers.value_text(d.difference.a)),
            numbers.short_hashes(numbers.value_text(d.difference.b)),
        )
        for d in differing
    ]
    columns = ("condition", "run", "matters", "in the first run", "in this one")
    summary = f"In what the runs differ ({len(rows)})"
    return Details(summary, (Table(columns, tuple(rows), len(columns)),))


def run_names(views: Sequence[RunView]) -> list[str]:
    """Name runs by their subject; where two have one name, by their directory, too.

    Where those have one name as well, the path is given as it was asked for.
    """
    names = [view.plan.name for view in views]
    for tell in (lambda path: path.resolve().name, str):
        names = [
            name
            if names.count(name) == 1
            else f"{view.plan.name} ({tell(view.run.path)})"
            for name, view in zip(names, views, strict=True)
        ]
    return names


def _marked_names(views: Sequence[RunView]) -> Iterator[str]:
    """Say beside its name that a run is partial: its verdicts stand on less."""
    for name, view in zip(run_names(views), views, strict=True):
        yield f"{name}, partial" if view.result.partial else name


def _rows(run: str, view: RunView, cell: Cell) -> Iterator[tuple[str, ...]]:
    baseline = view.plan.baseline
    if baseline and baseline.name in cell.arms:
        visible = cell.control.visible if cell.control else None
        tokens = numbers.arm_value(THROUGHPUT, cell.arms[baseline.name])
        none = numbers.NOTHING
        yield (
            *(cell.load.words, run, baseline.name, "baseline", tokens),
            *(none, none, none, numbers.percent(visible)),
        )
    for arm in view.candidates:
        yield (cell.load.words, run, arm.name, *_figures(cell, arm.name))


def _figures(cell: Cell, name: str) -> tuple[str, ...]:
    comparison = cell.comparisons.get(name)
    if comparison is None:
        return (word_of(cell, name), *[numbers.NOTHING] * 5)
    arm = cell.arms[name]
    lossy = " (LOSSY)" if comparison.lossy else ""
    return (
        comparison.verdict.word + lossy,
        numbers.arm_value(THROUGHPUT, arm),
        numbers.ratio(speed_in(cell, name)),
        numbers.ratio(comparison.ratios.get("e2e.p50")),
        numbers.arm_value("acceptance_length", arm),
        numbers.NOTHING,
    )

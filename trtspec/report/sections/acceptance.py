"""How much of what was drafted became output: by position, category and context."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trtspec.bench.cells import Acceptance, Cell, Position
from trtspec.report import numbers
from trtspec.report.document import Block, Figure, Section, Table, Text
from trtspec.report.plots.dots import Dot, DotRow, DotRows
from trtspec.report.plots.lines import LinePlot, Point, Series
from trtspec.report.view import RunView

_TOGETHER = 4
"""Candidates up to which intervals are drawn; those of more would cover one another."""
_LEAD = (
    "Conditional rate: of the steps in which all earlier draft tokens were accepted, "
    "how many accepted this one, too, with its 95 % Wilson interval. Share: of all "
    "steps whose draft was that deep. Steps with a shorter draft count in neither. Of "
    "a tree, a position is a level."
)


def acceptance_section(view: RunView) -> Section | None:
    """Show it load by load; nothing is averaged over loads."""
    drafting = [cell for cell in view.measured if any(_drafting(view, cell))]
    if not drafting:
        return None
    blocks: list[Block] = []
    if plots := [plot for cell in drafting if (plot := _plot(view, cell))]:
        table = _positions(view, drafting)
        blocks += [
            Text(_LEAD),
            Figure(
                tuple(plots),
                "Conditional acceptance rate by position in the draft",
                legend=view.legend(tuple(arm.name for arm in view.candidates)),
                table=table,
            ),
        ]
    else:
        blocks.append(Text("The engine does not tell single steps, only totals."))
    blocks += _split(view, drafting, "category")
    blocks += _split(view, drafting, "context tokens")
    return Section("Acceptance", tuple(blocks))


def _drafting(view: RunView, cell: Cell) -> Iterator[str]:
    """Name the arms that drafted anything."""
    for arm in view.candidates:
        of = cell.arms[arm.name].acceptance
        if of and of.drafted:
            yield arm.name


def _plot(view: RunView, cell: Cell) -> LinePlot | None:
    whiskers = len(view.candidates) <= _TOGETHER
    series = tuple(
        Series(view.keys[name], tuple(_points(cell.arms[name].positions, whiskers)))
        for name in _drafting(view, cell)
        if cell.arms[name].positions
    )
    if not series:
        return None
    deepest = max(int(point.x) for s in series for point in s.points)
    every = max(1, -(-deepest // 10))
    said = "; ".join(
        f"{s.key.name}: {', '.join(p.tip for p in s.points)}" for s in series
    )
    return LinePlot(
        title=f"Acceptance by position, {cell.load.words}",
        description=said,
        titles=("position in the draft", cell.load.words),
        ticks=tuple((float(k), str(k)) for k in range(1, deepest + 1, every)),
        series=series,
        share=True,
        size=(340, 240),
    )


def _points(positions: tuple[Position, ...], whiskers: bool) -> Iterator[Point]:
    for p in positions:
        if p.conditional is not None:
            rate = numbers.percent(p.conditional)
            yield Point(
                float(p.position),
                p.conditional,
                p.interval if whiskers else None,
                f"position {p.position}: {rate} {numbers.percent_interval(p.interval)}",
            )


def _positions(view: RunView, cells: list[Cell]) -> Table:
    columns = (
        "load",
        "candidate",
        "position",
        "offered",
        "reached",
        "accepted",
        "share",
        "conditional",
        "95 % interval",
    )
    rows = [
        (
            cell.load.words,
            name,
            str(p.position),
            numbers.count(p.offered),
            numbers.count(p.reached),
            numbers.count(p.accepted),
            numbers.percent(p.share),
            numbers.percent(p.conditional),
            numbers.percent_interval(p.interval),
        )
        for cell in cells
        for name in _drafting(view, cell)
        for p in cell.arms[name].positions
    ]
    return Table.of(columns, rows, words=2)


def _split(view: RunView, cells: list[Cell], by: str) -> Iterator[Block]:
    """Show one way to split, if it splits anything."""
    plots = [plot for cell in cells if (plot := _dots(view, cell, by)).rows]
    if not plots:
        return
    rows = [
        (cell.load.words, name, group, *_counts(found))
        for cell in cells
        for name in _drafting(view, cell)
        for group, found in _groups(cell, name, by).items()
    ]
    columns = ("load", "candidate", by, "requests", "steps", "drafted", "accepted")
    yield Figure(
        tuple(plots),
        f"Acceptance length by {by}",
        legend=view.legend(tuple(arm.name for arm in view.candidates)),
        table=Table.of((*columns, "rate", "length"), rows, words=3),
    )


def _dots(view: RunView, cell: Cell, by: str) -> DotRows:
    dots: dict[str, list[Dot]] = {}
    for name in _drafting(view, cell):
        for group, found in _groups(cell, name, by).items():
            if found.length is not None:
                tip = f"{group}: {numbers.length_and_rate(found)}"
                dots.setdefault(group, []).append(
                    Dot(view.keys[name], found.length, tip)
                )
    return DotRows(
        title=f"Acceptance length by {by}, {cell.load.words}",
        description="; ".join(
            f"{d.key.name}, {d.tip}" for of in dots.values() for d in of
        ),
        heading=cell.load.words,
        x_title="tokens per step",
        rows=tuple(DotRow(group, tuple(of)) for group, of in dots.items()),
        least=1.0,
    )


def _groups(cell: Cell, name: str, by: str) -> Mapping[str, Acceptance]:
    arm = cell.arms[name]
    return arm.categories if by == "category" else arm.contexts


def _counts(found: Acceptance) -> tuple[str, ...]:
    return (
        numbers.count(found.requests),
        numbers.count(found.steps),
        numbers.count(found.drafted),
        numbers.count(found.accepted),
        numbers.percent(found.rate),
        numbers.decimal(found.length),
    )

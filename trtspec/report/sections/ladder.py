"""How the gain changes with the load: ratios against 1, and tokens per second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from trtspec.bench.cells import Cell
from trtspec.bench.compare import THROUGHPUT
from trtspec.bench.records import Load, rate_text
from trtspec.bench.sentences import break_even_text
from trtspec.report import numbers
from trtspec.report.document import Figure, Section, Table
from trtspec.report.plots.lines import Band, LinePlot, Point, Series
from trtspec.report.plots.svg import Key
from trtspec.report.speed import speed_in, speed_name
from trtspec.report.view import RunView

_SMALL = (340.0, 240.0)
_LEAD = (
    "How many times faster each candidate is than off in the same rounds, with 95 % "
    "intervals. Speculation pays where the whole interval lies above the line at 1."
)
_RATIO = "Times faster than off"
_CLOSED = "output tokens per second, median over blocks"
_OPEN = "median E2E latency"
_OPEN_LEAD = (
    " In an open loop the arrivals set the throughput: there speed is off / on E2E p50."
)
_TOGETHER = 4
"""Candidates up to which one plot has all of them; beyond, each has its own."""


def ladder_section(view: RunView) -> Section | None:
    """Draw one ladder per way of sending and category: concurrencies, or rates."""
    ladders = dict.fromkeys(_ladder(cell) for cell in view.measured)
    blocks = tuple(
        _figure(view, sorted(cells, key=lambda cell: _place(cell.load)))
        for ladder in ladders
        if (cells := [cell for cell in view.measured if _ladder(cell) == ladder])
    )
    opened = any(cell.load.arrivals != "closed" for cell in view.measured)
    lead = _LEAD + (_OPEN_LEAD if opened else "")
    return Section("Speed over load", blocks, lead) if blocks else None


def _ladder(cell: Cell) -> tuple[str, str]:
    return cell.load.category, cell.load.arrivals


def _figure(view: RunView, cells: Sequence[Cell]) -> Figure:
    ratios = _ratios(view, cells)
    absolute = _absolute(view, cells)
    if len(ratios) > 1:
        absolute = replace(absolute, size=_SMALL)
    captions = [_RATIO] if ratios else []
    captions.append(_CLOSED if _closed(cells) else _OPEN)
    category = cells[0].load.category
    return Figure(
        (*ratios, absolute),
        f"{category}: {'; '.join(captions)}" if category else "; ".join(captions),
        legend=view.legend(),
        table=_table(view, cells),
    )


def _closed(cells: Sequence[Cell]) -> bool:
    return cells[0].load.arrivals == "closed"


def _place(load: Load) -> float:
    return float(load.concurrency or load.rate or 0)


def _x_title(cells: Sequence[Cell]) -> str:
    load = cells[0].load
    if load.arrivals == "closed":
        return "requests kept in flight"
    spaced = "Poisson" if load.arrivals == "poisson" else "evenly spaced"
    return f"requests per second, {spaced}"


def _ticks(cells: Sequence[Cell]) -> tuple[tuple[float, str], ...]:
    return tuple((_place(c.load), rate_text(_place(c.load))) for c in cells)


def _ratios(view: RunView, cells: Sequence[Cell]) -> list[LinePlot]:
    """Draw all candidates together; if they are many, each before the others."""
    series = [_ladder_of(view.keys[arm.name], cells) for arm in view.candidates]
    series = [s for s in series if s.points]
    bands = tuple(_bands(view, cells[0].load)) if _closed(cells) else ()
    whole = LinePlot(
        title="Speed relative to off, by load",
        description="; ".join(f"{s.key.name}: {_said(s)}" for s in series),
        titles=(_x_title(cells), speed_name(cells[0].load)),
        ticks=_ticks(cells),
        series=tuple(series),
        log_x=True,
        log_y=True,
        reference=(1.0, "off"),
        bands=bands,
    )
    if len(series) <= _TOGETHER:
        return [whole] if series else []
    return [
        replace(
            whole,
            title=f"{one.key.name}: {whole.title}",
            description=_said(one),
            titles=(whole.titles[0], one.key.name),
            series=(one,),
            bands=tuple(band for band in bands if band.key == one.key),
            ghosts=tuple(other for other in series if other is not one),
            size=_SMALL,
        )
        for one in series
    ]


def _ladder_of(key: Key, cells: Sequence[Cell]) -> Series:
    return Series(
        key,
        tuple(
            Point(
                _place(cell.load),
                ratio.estimate,
                ratio.interval,
                f"{cell.load.words}: {numbers.ratio(ratio)}",
            )
            for cell in cells
            if (ratio := speed_in(cell, key.name))
        ),
    )


def _said(series: Series) -> str:
    return ", ".join(point.tip for point in series.points)


def _bands(view: RunView, load: Load) -> Iterator[Band]:
    for arm in view.candidates:
        name = f"{arm.name}, {load.category}" if load.category else arm.name
        found = view.result.break_even.get(name)
        if found and found.interval:
            tip = f"break-even {break_even_text(found)}"
            yield Band(view.keys[arm.name], *found.interval, tip)


def _absolute(view: RunView, cells: Sequence[Cell]) -> LinePlot:
    points = _throughputs if _closed(cells) else _latencies
    series = tuple(
        Series(view.keys[name], tuple(points(cells, name))) for name in view.compared
    )
    metric = numbers.metric(THROUGHPUT if _closed(cells) else "e2e")
    title = metric.header if _closed(cells) else f"{metric.header}, p50"
    return LinePlot(
        title=f"{title} by load",
        description="; ".join(f"{s.key.name}: {_said(s)}" for s in series),
        titles=(_x_title(cells), title),
        ticks=_ticks(cells),
        series=series,
        log_x=True,
        from_zero=True,
    )


def _throughputs(cells: Sequence[Cell], name: str) -> Iterator[Point]:
    for cell in cells:
        value = cell.arms[name].values[THROUGHPUT]
        if value is not None:
            shown = numbers.shown(THROUGHPUT, value)
            tip = f"{cell.load.words}: {shown} tokens/s"
            yield Point(_place(cell.load), value, None, tip)


def _latencies(cells: Sequence[Cell], name: str) -> Iterator[Point]:
    for cell in cells:
        if p50 := cell.arms[name].percentiles["e2e"].p50:
            tip = f"{cell.load.words}: {numbers.quantile('e2e', p50)} s"
            yield Point(_place(cell.load), p50.value, p50.interval, tip)


def _table(view: RunView, cells: Sequence[Cell]) -> Table:
    columns = (
        "load",
        "arm",
        "output tokens/s",
        "total tokens/s",
        "requests/s",
        speed_name(cells[0].load),
        "by prompts",
        "by blocks",
        "in flight",
    )
    rows = [_row(cell, name) for cell in cells for name in view.arms_of(cell)]
    return Table.of(columns, rows, words=2)


def _row(cell: Cell, name: str) -> tuple[str, ...]:
    arm = cell.arms[name]
    ratio = speed_in(cell, name)
    return (
        cell.load.words,
        name,
        *(
            numbers.arm_value(tag, arm)
            for tag in (THROUGHPUT, "total_throughput", "request_throughput")
        ),
        numbers.ratio(ratio),
        numbers.interval(ratio.prompts_interval) if ratio else numbers.NOTHING,
        numbers.interval(ratio.blocks_interval) if ratio else numbers.NOTHING,
        numbers.decimal(arm.in_flight, 1),
    )

"""How long requests wait: whole distributions, and percentiles with their intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trtspec.bench.cells import Cell
from trtspec.bench.metrics import LATENCIES, METRICS, RequestMetric
from trtspec.bench.records import Sample
from trtspec.report import numbers
from trtspec.report.document import Block, Figure, Section, Table, Text
from trtspec.report.plots.steps import Distribution, StepPlot
from trtspec.report.view import RunView

_LEAD = (
    "Each line rises by one step per request of all counted blocks; further left is "
    "faster. TTFT: submission to first token. TPOT: time per further token. E2E: "
    "submission to last token."
)
_RANKS = (50, 95, 99)


def latency_section(view: RunView) -> Section | None:
    """Draw TTFT, TPOT and E2E per load, and list every percentile."""
    if not view.measured:
        return None
    blocks: list[Block] = [Text(_LEAD)]
    for cell in view.measured:
        blocks.append(_figure(view, cell))
    return Section("Latency", tuple(blocks))


def _figure(view: RunView, cell: Cell) -> Figure:
    samples = view.raw(cell.load).samples
    plots = [_plot(view, cell, metric, samples) for metric in LATENCIES]
    return Figure(
        tuple(plot for plot in plots if plot),
        cell.load.words[:1].upper() + cell.load.words[1:],
        legend=view.legend(),
        table=_table(view, cell),
    )


def _plot(
    view: RunView, cell: Cell, metric: RequestMetric, samples: Sequence[Sample]
) -> StepPlot | None:
    series = [
        Distribution(view.keys[name], values)
        for name in view.arms_of(cell)
        if (values := tuple(_values(metric, name, samples)))
    ]
    if not series:
        return None
    return StepPlot(
        title=f"{metric.header}, {cell.load.words}",
        description="; ".join(
            f"{key.name}: {len(values)} requests, p50 {_median(cell, key.name, metric)}"
            for key, values in series
        ),
        heading=metric.header,
        series=tuple(series),
    )


def _values(
    metric: RequestMetric, name: str, samples: Sequence[Sample]
) -> Iterator[float]:
    for sample in samples:
        if sample.arm == name and (value := metric.of(sample)) is not None:
            yield value * metric.scale


def _median(cell: Cell, name: str, metric: RequestMetric) -> str:
    return numbers.quantile(metric.tag, cell.arms[name].percentiles[metric.tag].p50)


def _table(view: RunView, cell: Cell) -> Table:
    columns = ["metric", "arm", "count", "mean", "p50", "p95", "p99"]
    columns += [f"p{rank} / off" for rank in _RANKS]
    rows = [
        _row(cell, name, metric)
        for metric in METRICS
        if isinstance(metric, RequestMetric)
        for name in view.arms_of(cell)
        if cell.arms[name].percentiles[metric.tag].count
    ]
    return Table.of(columns, rows, words=2)


def _row(cell: Cell, name: str, metric: RequestMetric) -> tuple[str, ...]:
    of = cell.arms[name].percentiles[metric.tag]
    comparison = cell.comparisons.get(name)
    ratios = comparison.ratios if comparison else {}
    return (
        metric.header,
        name,
        numbers.count(of.count),
        numbers.shown(metric.tag, of.mean),
        *(numbers.quantile(metric.tag, of.at(rank)) for rank in _RANKS),
        *(numbers.ratio(ratios.get(f"{metric.tag}.p{rank}")) for rank in _RANKS),
    )

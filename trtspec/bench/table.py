"""How a result reads on a terminal: conditions, one table per concurrency, verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trtspec.bench.metrics import METRICS, RequestMetric
from trtspec.bench.ratio import Ratio
from trtspec.bench.result import BenchResult
from trtspec.bench.sentences import (
    condition_lines,
    footnote_lines,
    verdict_line,
    warning_lines,
)
from trtspec.bench.summary import ArmSummary, Cell

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_STYLES = {"faster": "green", "slower": "red"}


def print_result(result: BenchResult, console: Console) -> None:
    """Print the whole report; plain text where the console is no terminal."""
    from rich.text import Text

    def say(line: str, style: str = "") -> None:
        # a file or pipe gets whole lines, however long
        console.print(Text(line, style=style), soft_wrap=not console.is_terminal)

    for line in condition_lines(result):
        say(line)
    for line in warning_lines(result):
        say(line, "yellow")
    for cell in result.cells:
        if cell.failure is None:
            console.print()
            console.print(cell_table(cell))
    console.print()
    for line in footnote_lines(result):
        say(line, "dim")
    console.print()
    for cell in result.cells:
        word = cell.verdict.word if cell.verdict else ""
        say(verdict_line(cell), _STYLES.get(word, ""))


def cell_table(cell: Cell) -> Table:
    """Lay out one concurrency: a metric per row, off, on, and their ratio."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(f"concurrency {cell.concurrency}", no_wrap=True)
    for header in ("off", "on"):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("on / off", justify="right", no_wrap=True)
    for row in cell_rows(cell):
        table.add_row(*row)
    return table


def cell_rows(cell: Cell) -> Iterator[tuple[str, str, str, str]]:
    """Give the rows: header, off, on, ratio; ``-`` stands for no value."""
    if cell.off is None or cell.on is None:
        return
    for metric in METRICS:
        tail = " p50/p95/p99" if isinstance(metric, RequestMetric) else ""
        yield (
            metric.header + tail,
            _shown(metric.tag, cell.off),
            _shown(metric.tag, cell.on),
            show_ratio(cell.ratios[metric.tag]) if metric.tag in cell.ratios else "",
        )
    yield (
        "requests in flight",
        f"{cell.off.in_flight:.1f}",
        f"{cell.on.in_flight:.1f}",
        "",
    )


def _shown(tag: str, arm: ArmSummary) -> str:
    metric = next(m for m in METRICS if m.tag == tag)
    if not isinstance(metric, RequestMetric):
        return metric.show(arm.values[tag])
    of = arm.percentiles[tag]
    return "/".join(metric.show(value) for value in (of.p50, of.p95, of.p99))


def show_ratio(ratio: Ratio | None) -> str:
    """Format a ratio with its interval."""
    if ratio is None:
        return "-"
    if ratio.interval is None:
        return f"{ratio.estimate:.2f} [no interval]"
    low, high = ratio.interval
    return f"{ratio.estimate:.2f} [{low:.2f}, {high:.2f}]"

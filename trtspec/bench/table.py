"""How a result reads on a terminal: conditions, one table per load, verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trtspec.bench.arms import CONTROL
from trtspec.bench.cells import ArmSummary, Cell
from trtspec.bench.compare import THROUGHPUT
from trtspec.bench.metrics import METRICS, ArmMetric, Quantile, RequestMetric
from trtspec.bench.ratio import Ratio
from trtspec.bench.result import BenchResult
from trtspec.bench.sentences import (
    break_even_text,
    condition_lines,
    footnote_lines,
    verdict_lines,
    warning_lines,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_WIDEST = 10_000
"""Columns of a table in a file."""
_STYLES = {"faster": "green", "slower": "red"}
_OF_ARMS = (
    "acceptance_length",
    "acceptance_rate",
    "drafting_share",
    THROUGHPUT,
)


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
        for table in cell_tables(cell):
            console.print()
            _print_table(table, console)
    console.print()
    for line in footnote_lines(result):
        say(line, "dim")
    console.print()
    for cell in result.cells:
        for line, word in verdict_lines(cell):
            say(line, _STYLES.get(word, ""))
    for name, found in result.break_even.items():
        say(f"break-even, {name}: {break_even_text(found)}")


def _print_table(table: Table, console: Console) -> None:
    """Print a table; a file or pipe gets all of it, however wide."""
    if not console.is_terminal:
        from rich.console import Console

        unbounded = console.options.update(width=_WIDEST)
        needed = console.measure(table, options=unbounded).maximum
        console = Console(file=console.file, width=max(needed, console.width))
    console.print(table)


def cell_tables(cell: Cell) -> Iterator[Table]:
    """Lay out one load: two arms side by side, or a row per arm if there are more."""
    if len(cell.comparisons) == 1:
        yield _pair_table(cell)
    elif cell.comparisons or cell.arms:
        yield _arms_table(cell)


def _pair_table(cell: Cell) -> Table:
    """A metric per row: off, on, and their ratio."""
    from rich.text import Text

    (name,) = cell.comparisons
    table = _empty(cell.load.words, ("off", name, f"{name} / off"))
    for row in pair_rows(cell):
        table.add_row(*map(Text, row))
    return table


def pair_rows(cell: Cell) -> Iterator[tuple[str, str, str, str]]:
    """Give the rows: header, off, on, ratio; ``-`` stands for no value."""
    ((name, comparison),) = cell.comparisons.items()
    off, on = cell.arms[_baseline(cell)], cell.arms[name]
    for metric in METRICS:
        shown = [show_metric(metric, arm) for arm in (off, on)]
        if set(shown) == {"-"}:
            continue
        tail = " p50/p95/p99" if isinstance(metric, RequestMetric) else ""
        ratio = comparison.ratios.get(ratio_key(metric))
        yield (
            metric.header + tail,
            shown[0],
            shown[1],
            show_ratio(ratio) if ratio_key(metric) in comparison.ratios else "",
        )
    yield ("requests in flight", f"{off.in_flight:.1f}", f"{on.in_flight:.1f}", "")


def _arms_table(cell: Cell) -> Table:
    """An arm per row, in 80 columns."""
    from rich.text import Text

    headers = ("AL", "rate", "draft%", "tok/s", "/ off", "same", "verdict")
    table = _empty(cell.load.words, headers, padding=(0, 0, 0, 1))
    for name, arm in cell.arms.items():
        comparison = cell.comparisons.get(name)
        ratio = outputs = verdict = ""
        if comparison:
            ratio = show_ratio(comparison.ratios.get(THROUGHPUT))
            identical = comparison.outputs.identical
            same = "-" if identical is None else str(identical)
            outputs = f"{same}/{comparison.outputs.prompts}"
            verdict = comparison.verdict.word + ("*" if comparison.lossy else "")
        elif cell.control and name == CONTROL:
            ratio = show_ratio(cell.control.comparison.ratios.get(THROUGHPUT))
        values = [_shown(tag, arm) for tag in _OF_ARMS]
        row = (name, *values, ratio, outputs, verdict)
        table.add_row(*map(Text, row))
    return table


def _empty(
    title: str,
    headers: tuple[str, ...],
    padding: tuple[int, int, int, int] = (0, 1, 0, 1),
) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=padding)
    table.add_column(Text(title), no_wrap=True)
    for header in headers:
        table.add_column(Text(header), justify="right", no_wrap=True)
    return table


def _baseline(cell: Cell) -> str:
    """The baseline is the first arm."""
    return next(iter(cell.arms))


def ratio_key(metric: RequestMetric | ArmMetric) -> str:
    """Under which name the metric's ratio stands; of latencies that of p50."""
    return f"{metric.tag}.p50" if isinstance(metric, RequestMetric) else metric.tag


def _shown(tag: str, arm: ArmSummary) -> str:
    return show_metric(next(m for m in METRICS if m.tag == tag), arm)


def show_metric(metric: RequestMetric | ArmMetric, arm: ArmSummary) -> str:
    """Format an arm's value, or its three percentiles; ``-`` if it has none."""
    if not isinstance(metric, RequestMetric):
        return metric.show(arm.values[metric.tag])
    of = arm.percentiles[metric.tag]
    if of.p50 is None:
        return "-"
    return "/".join(metric.show(_value(of.at(rank))) for rank in (50, 95, 99))


def _value(quantile: Quantile | None) -> float | None:
    return quantile.value if quantile else None


def show_ratio(ratio: Ratio | None) -> str:
    """Format a ratio with its interval."""
    if ratio is None:
        return "-"
    if ratio.interval is None:
        return f"{ratio.estimate:.2f} [no interval]"
    low, high = ratio.interval
    return f"{ratio.estimate:.2f} [{low:.2f}, {high:.2f}]"

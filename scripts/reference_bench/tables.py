"""How a comparison of methods reads: conditions, tables, what is left out."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console

from reference_bench.pooled import pooled
from trtspec.bench.cells import Cell
from trtspec.bench.rundir import BenchRun
from trtspec.bench.sentences import (
    break_even_text,
    condition_lines,
    footnote_lines,
    verdict_lines,
    warning_lines,
)
from trtspec.bench.table import cell_tables


def print_comparison(
    done: BenchRun, left_out: Mapping[str, str], console: Console, *, brief: bool
) -> None:
    """Print conditions, a table per load, and what was left out.

    :param brief: only the tables of all categories together.
    """
    result = done.result

    def say(line: str) -> None:
        console.print(line, soft_wrap=True, highlight=False)

    for line in (*condition_lines(result), *warning_lines(result)):
        say(line)
    together = pooled(result.plan, done.raw)
    for cell in result.cells if not brief else ():
        _print_cell(cell, console)
    for cell in together:
        console.print()
        say(f"all categories, {result.plan.prompts.count} prompts")
        _print_cell(cell, console)
    console.print()
    for line in footnote_lines(result):
        say(line)
    for cell in together:
        for line, _ in verdict_lines(cell):
            say(line)
    for name, found in result.break_even.items() if not brief else ():
        say(f"break-even, {name}: {break_even_text(found)}")
    for name, why in left_out.items():
        say(f"{name} is left out: {why}")
    say(f"every sample: {done.path}")


def _print_cell(cell: Cell, console: Console) -> None:
    for table in cell_tables(cell):
        console.print()
        console.print(table)

"""The comparison as a table, one line per workload and load."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from tune_bench.cells import Cell


def print_cells(cells: Sequence[Cell]) -> None:
    """Print what was chosen, what was best, and how far the predictions were off."""
    print(
        "| workload | concurrency | chosen | best | regret | chosen: predicted, "
        "measured | lengths within 5 % | acceptance length off by at most |"
    )
    print("|---" * 8 + "|")
    for (workload, load), group in groupby(
        cells, key=lambda c: (c.workload, c.concurrency)
    ):
        own = list(group)
        chosen = next(c for c in own if c.chosen)
        best = max(own, key=lambda c: c.measured)
        drafting = [c for c in own if c.length]
        near = sum(abs(c.predicted / c.measured - 1) <= 0.05 for c in drafting)
        off = max(abs(c.replayed / c.acceptance - 1) for c in drafting)
        print(
            f"| {workload} | {load} | {chosen.length} | {best.length} "
            f"| {chosen.regret:.1%} | {chosen.predicted:.2f}, {chosen.measured:.2f} "
            f"| {near} of {len(drafting)} | {off:.2%} |"
        )

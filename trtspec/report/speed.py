"""Which ratio a verdict is about: throughput, or where arrivals set it the latency."""

from __future__ import annotations

from trtspec.bench.cells import Cell, Comparison
from trtspec.bench.compare import THROUGHPUT
from trtspec.bench.ratio import Ratio
from trtspec.bench.records import Load

CLOSED, OPEN = "output throughput / off", "off / E2E p50"
"""What the ratio is called; above 1 the candidate is faster."""


def speed_of(load: Load, comparison: Comparison) -> Ratio | None:
    """Give the ratio that was judged: how many times faster."""
    if load.arrivals == "closed":
        return comparison.ratios.get(THROUGHPUT)
    e2e = comparison.ratios.get("e2e.p50")
    return e2e.inverse if e2e else None


def speed_in(cell: Cell, name: str) -> Ratio | None:
    """Give a candidate's under one load; None if it was not compared."""
    comparison = cell.comparisons.get(name)
    return speed_of(cell.load, comparison) if comparison else None


def speed_name(load: Load) -> str:
    """Say which ratio it is."""
    return CLOSED if load.arrivals == "closed" else OPEN

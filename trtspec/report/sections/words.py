"""Which word a candidate has under a load, and all loads in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from trtspec.bench.cells import Cell
from trtspec.bench.records import Load, rate_text

FAILED, UNMEASURED = "failed", "not measured"
"""Words beside those of a verdict, where there is none."""


def word_of(cell: Cell, name: str) -> str:
    """Give the verdict's word, or why there is none."""
    if cell.failures:
        return FAILED
    comparison = cell.comparisons.get(name)
    return comparison.verdict.word if comparison else UNMEASURED


def headline(cells: Sequence[Cell], name: str) -> str:
    """Say in one sentence where a candidate is faster, and where not; no average."""
    said = []
    for category in dict.fromkeys(cell.load.category for cell in cells):
        text = _by_word([c for c in cells if c.load.category == category], name)
        said.append(f"{category}: {text}" if category else text)
    lossy = any(c.comparisons[name].lossy for c in cells if name in c.comparisons)
    tail = " LOSSY: its output need not be the target's own." if lossy else ""
    return f"{'; '.join(said)}.{tail}"


def _by_word(cells: Sequence[Cell], name: str) -> str:
    return ", ".join(
        f"{word} at {_loads([cell.load for cell in group])}"
        for word, group in groupby(cells, key=lambda cell: word_of(cell, name))
    )


def _loads(loads: Sequence[Load]) -> str:
    """Name loads in a row: concurrency 1 and 4; 0.5 and 2 requests/s, Poisson."""
    closed = [str(load.concurrency) for load in loads if load.concurrency]
    words = [f"concurrency {joined(closed)}"] if closed else []
    for arrivals, spaced in (("poisson", "Poisson"), ("fixed", "evenly spaced")):
        rates = [rate_text(r.rate or 0) for r in loads if r.arrivals == arrivals]
        words += [f"{joined(rates)} requests/s, {spaced}"] if rates else []
    return joined(words)


def joined(words: Sequence[str]) -> str:
    """List words: a, b and c."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"

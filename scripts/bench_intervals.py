"""How often the intervals of trtspec bench hold the truth: long simulations.

python scripts/bench_intervals.py [--runs 2000] [--part coverage|verdicts|negative]

Invents measurements whose truth is known and prints, per design, in which share of the
runs the nominal 95 % intervals hold it, how often an arm against itself is called no
difference, and how often a true gain of 5 % is found, beside the stated power. The
figures in docs/statistics.md are from here. Nothing is timed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.bench.simulated import (
    METHODS,
    Design,
    control_words,
    coverage,
    found_as_visible,
    naive_median_interval,
    naive_throughput_interval,
    stated_power,
    words,
)
from trtspec.bench.compare import FEWEST_FOR_INTERVAL

WORLDS = {
    "usual": {},
    "blocks differ": {"blocks_differ": 0.05, "drift": 0.05},
    "requests differ": {"noise": 0.4, "gains_differ": 0.0, "blocks_differ": 0.002},
    "prompts alike": {"prompts_differ": 0.01, "gains_differ": 0.02, "noise": 0.02},
    "two humps": {"slow": 0.2, "gains_differ": 0.3},
}
"""What varies how much; see ``Design``."""

SIZES = (
    (3, 8),
    (3, 24),
    (3, 100),
    (5, 8),
    (5, 48),
    (5, 200),
    (10, 8),
    (10, 24),
    (10, 100),
)
"""Blocks and prompts."""
_RARELY = 0.05
"""Share of runs with an interval below which there is nothing to count."""


@dataclass(frozen=True)
class Row:
    """One line of a table."""

    name: str
    values: tuple[str, ...]

    def text(self) -> str:
        """Give it as a row of Markdown."""
        return f"| {self.name} | {' | '.join(self.values)} |"


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--part", choices=sorted(PARTS), action="append")
    chosen = parser.parse_args()
    for name in chosen.part or PARTS:
        print(f"## {name}, {chosen.runs} runs each\n")
        for row in PARTS[name](chosen.runs):
            print(row.text(), flush=True)
        print()


def coverage_rows(runs: int) -> Iterator[Row]:
    """Give the coverage of every interval; in brackets how many runs had one."""
    yield Row("data, blocks x prompts", tuple(METHODS))
    yield Row("---", ("---",) * len(METHODS))
    for name, world in WORLDS.items():
        for blocks, prompts in SIZES:
            design = Design(blocks, prompts, **world)
            cells = tuple(_covered(design, what, runs) for what in METHODS)
            yield Row(f"{name}, {blocks} x {prompts}", cells)


def _covered(design: Design, what: str, runs: int) -> str:
    if design.prompts < FEWEST_FOR_INTERVAL[95] and what.endswith("p95"):
        return "-"
    found = coverage(design, what, runs)
    if found.given < _RARELY:
        return "none"
    given = "" if found.given == 1 else f" ({found.given:.0%})"
    return f"{found.covered:.1%}{given}"


def verdict_rows(runs: int) -> Iterator[Row]:
    """Give what is said of an arm against itself, and of a gain of 5 %."""
    columns = (
        "off against off: no difference",
        "faster or slower",
        "gain of 5 % found",
        "stated power",
        "gain as large as called visible, found",
    )
    yield Row("blocks x prompts, blocks differ by", columns)
    yield Row("---", ("---",) * len(columns))
    for (blocks, prompts), differ in product(
        ((3, 24), (5, 24), (5, 48), (10, 48)), (0.002, 0.005, 0.01, 0.02)
    ):
        design = Design(
            blocks,
            prompts,
            blocks_differ=differ,
            gains_differ=0.0,
            noise=0.04,
            gain=1.05,
        )
        alike = control_words(design, runs)
        gained = words(design, runs)
        wrong = alike.count("faster") + alike.count("slower")
        yield Row(
            f"{blocks} x {prompts}, {differ:.1%}",
            (
                f"{alike.count('no difference') / runs:.1%}",
                f"{wrong / runs:.1%}",
                f"{gained.count('faster') / runs:.1%}",
                f"{stated_power(design):.1%}",
                f"{found_as_visible(design, runs):.1%}",
            ),
        )


def negative_rows(runs: int) -> Iterator[Row]:
    """Give the coverage of intervals that take every request for another prompt."""
    yield Row("data, blocks x prompts", ("p50", "throughput"))
    yield Row("---", ("---", "---"))
    for name, world in WORLDS.items():
        design = Design(5, 48, **world)
        median = coverage(design, "p50", runs, method=naive_median_interval)
        rate = coverage(design, "throughput", runs, method=naive_throughput_interval)
        cells = f"{median.covered:.1%}", f"{rate.covered:.1%}"
        yield Row(f"{name}, 5 x 48", cells)
    print(f"\nsimulation error of 95 %: {sqrt(0.95 * 0.05 / runs):.1%}")


PARTS = {
    "coverage": coverage_rows,
    "verdicts": verdict_rows,
    "negative": negative_rows,
}

if __name__ == "__main__":
    main()

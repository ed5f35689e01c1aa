"""How long a step takes, from a table: never from a fit, costs are jagged."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from trtspec.bench.records import Record
from trtspec.errors import UsageError

Source = Literal["measured", "priced", "roofline"]
Place = tuple[int, int]
"""Batch size, and tokens of one request."""


class Cost(Record):
    """One cell of a table."""

    batch: int = Field(ge=1, description="Running requests.")
    tokens: int = Field(
        ge=0,
        description="Tokens of a request: verified ones, the pending one included; or "
        "drafted ones.",
    )
    seconds: float = Field(ge=0, description="Of the step.")


class CostTable(Record):
    """Seconds by batch size and tokens; between its cells the straight line counts.

    Where a cell is cheaper than one with fewer tokens at the same batch, that is noise:
    the dearer one's figure counts.
    """

    source: Source = Field(
        description="measured: on the backend at hand. priced: by a model of a named "
        "GPU. roofline: from the GPU's data sheet."
    )
    cells: tuple[Cost, ...] = Field(min_length=1, description="In any order.")

    def at(self, batch: int, tokens: int) -> float:
        """Give the seconds of a step.

        :raises UsageError: outside of the table: nothing is extrapolated.
        """
        table = _risen(self.cells)
        batches = sorted({place[0] for place in table})
        low, high = _neighbours(batches, batch, "requests")
        below, above = (_in_row(table, b, tokens) for b in (low, high))
        return below if low == high else _between(low, below, high, above, batch)


def _risen(cells: tuple[Cost, ...]) -> dict[Place, float]:
    """Lift what is cheaper than a smaller step of its row: the running maximum."""
    table: dict[Place, float] = {}
    highest: dict[int, float] = {}
    for cell in sorted(cells, key=lambda c: (c.batch, c.tokens)):
        highest[cell.batch] = max(highest.get(cell.batch, 0.0), cell.seconds)
        table[cell.batch, cell.tokens] = highest[cell.batch]
    return table


def _in_row(table: Mapping[Place, float], batch: int, tokens: int) -> float:
    row = sorted(t for b, t in table if b == batch)
    low, high = _neighbours(row, tokens, f"tokens at {batch} requests")
    below, above = table[batch, low], table[batch, high]
    return below if low == high else _between(low, below, high, above, tokens)


def _neighbours(known: list[int], wanted: int, what: str) -> tuple[int, int]:
    if wanted in known:
        return wanted, wanted
    place = bisect_left(known, wanted)
    if place in (0, len(known)):
        raise UsageError(
            f"there is no cost of {wanted} {what}",
            allowed=f"{known[0]} to {known[-1]}",
            action="measure a table that goes so far",
        )
    return known[place - 1], known[place]


def _between(low: int, below: float, high: int, above: float, at: int) -> float:
    return below + (above - below) * (at - low) / (high - low)


class StepCosts(Record):
    """What the steps of one artifact cost."""

    verify: CostTable = Field(description="By tokens verified per request, from 1.")
    draft: CostTable = Field(description="By draft tokens per request, from 0.")

    def step(self, batch: int, drafted: int) -> float:
        """Give the seconds of a step that drafts and verifies so many tokens each."""
        return self.verify.at(batch, drafted + 1) + self.draft.at(batch, drafted)

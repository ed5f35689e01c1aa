"""How long a step takes, from a table: never from a fit, costs are jagged."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from math import sqrt
from statistics import median
from typing import Literal

from pydantic import Field

from trtspec.bench.records import Record
from trtspec.errors import UsageError

Source = Literal["measured", "priced", "roofline"]
Place = tuple[int, int]
"""Batch size, and tokens of one request."""

_ERROR_OF_MEDIAN = 1.2533 * 1.4826
"""The standard error of the median of n normal values is 1.2533 sd / sqrt(n), and their
sd 1.4826 times the median absolute deviation."""


def error_of_median(seconds: Sequence[float]) -> float:
    """Give the standard error of the median of some times, relative to it."""
    middle = median(seconds)
    apart = median(abs(s - middle) for s in seconds)
    return _ERROR_OF_MEDIAN * apart / sqrt(len(seconds)) / middle if middle else 0.0


class Cost(Record):
    """One cell of a table."""

    batch: int = Field(ge=1, description="Running requests.")
    tokens: int = Field(
        ge=0,
        description="Tokens of a request: verified ones, the pending one included; or "
        "drafted ones.",
    )
    context: int = Field(
        default=0,
        ge=0,
        description="Tokens of the longest context in the batch; 0: not told.",
    )
    seconds: float = Field(ge=0, description="Of the step; the median if measured.")
    error: float = Field(
        default=0.0,
        ge=0,
        description="Standard error of the median, relative; 0 where nothing was "
        "measured.",
    )


class CostTable(Record):
    """Seconds by batch size and tokens; between its cells the straight line counts.

    Where a cell is cheaper than one with fewer tokens at the same batch, that is noise:
    the dearer one's figure counts. A few cells may have been measured again with a
    longer context: what it adds counts in proportion to the context.
    """

    source: Source = Field(
        description="measured: on the backend at hand. priced: by a model of a named "
        "GPU. roofline: from the GPU's data sheet."
    )
    cells: tuple[Cost, ...] = Field(min_length=1, description="In any order.")
    reading: float = Field(
        default=0.0, ge=0, description="Seconds to read one token of a prompt."
    )
    reading_start: float = Field(
        default=0.0,
        ge=0,
        description="Seconds that each reading takes beyond that, however many prompts "
        "are read together.",
    )

    @cached_property
    def _grids(self) -> tuple[tuple[int, Grid], ...]:
        """By context, from the shortest; cells without one are the shortest."""
        contexts = sorted({cell.context for cell in self.cells})
        return tuple(
            (context, Grid([c for c in self.cells if c.context == context]))
            for context in contexts
        )

    @property
    def batches(self) -> tuple[int, ...]:
        """Batch sizes that were looked at."""
        return tuple(sorted({cell.batch for cell in self.cells}))

    @cached_property
    def error(self) -> float:
        """The usual relative error of a cell: the median over the table."""
        return median(cell.error for cell in self.cells)

    def at(self, batch: int, tokens: int, context: int | None = None) -> float:
        """Give the seconds of a step.

        :param context: tokens of the longest context in the batch; one that is beyond
            those measured counts as the nearest of them.
        :raises UsageError: for a batch or tokens outside of the table: nothing is
            extrapolated.
        """
        (short, near), *longer = self._grids
        seconds = near.at(batch, tokens)
        if not longer or context is None:
            return seconds
        long, far = longer[-1]
        share = min(max((context - short) / (long - short), 0.0), 1.0)
        return seconds + share * far.beyond(near, batch, tokens)


class Grid:
    """Cells of one context.

    :param cells: in any order.
    """

    def __init__(self, cells: Sequence[Cost]) -> None:
        self._table = _risen(cells)
        self._rows = {
            b: sorted(t for c, t in self._table if c == b)
            for b in sorted({cell.batch for cell in cells})
        }
        self._seen: dict[Place, float] = {}
        self._added: Grid | None = None

    def at(self, batch: int, tokens: int) -> float:
        """Give the seconds of a step.

        :raises UsageError: outside of the cells.
        """
        if (batch, tokens) not in self._seen:
            self._seen[batch, tokens] = self._found(batch, tokens)
        return self._seen[batch, tokens]

    def beyond(self, near: Grid, batch: int, tokens: int) -> float:
        """Give what these cells cost more than those of a shorter context."""
        if self._added is None:
            self._added = Grid(
                [
                    Cost(batch=b, tokens=t, seconds=max(0.0, s - near.at(b, t)))
                    for (b, t), s in self._table.items()
                ]
            )
        return self._added.at(batch, tokens)

    def _found(self, batch: int, tokens: int) -> float:
        low, high = _neighbours(list(self._rows), batch, "requests")
        below = self._in_row(low, tokens)
        if low == high:
            return below
        above = self._in_row(high, tokens)
        return _between(low, below, high, above, batch)

    def _in_row(self, batch: int, tokens: int) -> float:
        row, table = self._rows[batch], self._table
        low, high = _neighbours(row, tokens, f"tokens at {batch} requests")
        below, above = table[batch, low], table[batch, high]
        return below if low == high else _between(low, below, high, above, tokens)


def _risen(cells: Sequence[Cost]) -> dict[Place, float]:
    """Lift what is cheaper than a smaller step of its row: the running maximum."""
    table: dict[Place, float] = {}
    highest: dict[int, float] = {}
    for cell in sorted(cells, key=lambda c: (c.batch, c.tokens)):
        highest[cell.batch] = max(highest.get(cell.batch, 0.0), cell.seconds)
        table[cell.batch, cell.tokens] = highest[cell.batch]
    return table


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
    draft: CostTable = Field(description="By draft tokens per request, from 1.")

    @property
    def error(self) -> float:
        """The usual relative error of a step's cost."""
        return self.verify.error

    def step(
        self,
        batch: int,
        drafted: int,
        verified: int | None = None,
        context: int | None = None,
    ) -> float:
        """Give the seconds of a step.

        :param drafted: depth that each request asks its drafter for; 0 for none.
        :param verified: draft tokens that the target reads; as many if not given.
        :param context: tokens of the longest context; the shortest known if not given.
        """
        read = drafted if verified is None else verified
        spent = self.draft.at(batch, drafted) if drafted else 0.0
        return self.verify.at(batch, read + 1, context) + spent

    def reading(self, groups: int, tokens: int, *, drafts: bool) -> float:
        """Give the seconds in which prompts are read.

        :param groups: times that prompts are read, several together or one alone.
        :param tokens: of all of them.
        """
        per_token = self.verify.reading + (self.draft.reading if drafts else 0.0)
        return groups * self.verify.reading_start + tokens * per_token

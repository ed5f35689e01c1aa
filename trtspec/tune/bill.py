"""What tuning cost, and what trying everything would have cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter

from pydantic import Field

from trtspec.bench.records import Record
from trtspec.run import StepRecord


class Item(Record):
    """What one part took."""

    part: str = Field(description="traces, costs, confirmation or sweep.")
    engine_starts: int = Field(default=0, ge=0, description="Engines that were loaded.")
    steps: int = Field(default=0, ge=0, description="Engine steps, prefills included.")
    model_seconds: float = Field(default=0.0, ge=0, description="Inside those steps.")
    seconds: float = Field(default=0.0, ge=0, description="On the clock.")

    def shared(self, rounds: int) -> Item:
        """Give what one of several rounds took; what all share is shared out."""
        return self.model_copy(
            update={
                "steps": round(self.steps / rounds),
                "model_seconds": self.model_seconds / rounds,
                "seconds": self.seconds / rounds,
            }
        )


class Bill(Record):
    """The parts of a tuning, and the sweep that it stands for."""

    items: tuple[Item, ...] = Field(description="In the order in which they came.")
    sweep: Item = Field(
        description="Every draft length of every method under every load once, and "
        "decoding without drafts: measured if it was run, else predicted."
    )
    swept: bool = Field(description="Whether the sweep was run.")

    @property
    def model_seconds(self) -> float:
        """Time inside engine steps that the choice was made from."""
        return sum(i.model_seconds for i in self.items if i.part in ("traces", "costs"))

    @property
    def share(self) -> float | None:
        """That time / the sweep's; None if nothing was swept or predicted."""
        whole = self.sweep.model_seconds
        return self.model_seconds / whole if whole else None


class Meter:
    """Adds up what one part takes."""

    def __init__(self, part: str) -> None:
        self.item = Item(part=part)

    def add(self, records: Iterable[StepRecord]) -> None:
        """Count engine steps."""
        kept = list(records)
        self._grow(
            steps=self.item.steps + len(kept),
            model_seconds=self.item.model_seconds + sum(r.seconds for r in kept),
        )

    def add_work(self, steps: int, seconds: float) -> None:
        """Count steps of an engine that does not tell of each.

        :param seconds: from the first request to the last answer.
        """
        self._grow(
            steps=self.item.steps + steps,
            model_seconds=self.item.model_seconds + seconds,
        )

    def started(self) -> None:
        """Count an engine that was loaded."""
        self._grow(engine_starts=self.item.engine_starts + 1)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the time of the ``with`` block."""
        begun = perf_counter()
        try:
            yield
        finally:
            self._grow(seconds=self.item.seconds + perf_counter() - begun)

    def _grow(self, **changes: float) -> None:
        self.item = self.item.model_copy(update=changes)

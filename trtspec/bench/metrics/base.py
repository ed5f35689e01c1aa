"""What a metric is: a name, a unit, a formula, and one way to compute it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from pydantic import Field

from trtspec.bench.quantile import Place, Table, quantile_with_interval
from trtspec.bench.records import Block, Record, Sample

MIN_SAMPLES = {50: 1, 95: 20, 99: 100}
"""Fewest samples a percentile is given for: p95 and p99 need at least one sample that
is expected to lie beyond them."""


@dataclass(frozen=True, slots=True)
class ArmData:
    """What was measured in one arm under one load, warm-up left out.

    :param goodput: limits in seconds by tag of the metric, as in ``Settings``.
    """

    arm: str
    blocks: tuple[Block, ...]
    samples: tuple[Sample, ...]
    goodput: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        arm: str,
        blocks: Sequence[Block],
        samples: Sequence[Sample],
        goodput: Mapping[str, float] | None = None,
    ) -> ArmData:
        """Pick one arm's counted blocks and samples."""
        return cls(
            arm,
            tuple(b for b in blocks if b.arm == arm and not b.warm_up),
            tuple(s for s in samples if s.arm == arm),
            goodput or {},
        )


class Quantile(Record):
    """A percentile with its interval."""

    value: float = Field(description="Linear interpolation of order statistics.")
    interval: tuple[float, float] | None = Field(
        description="95 % interval; null where so few values cannot bound it."
    )


class Percentiles(Record):
    """Percentiles over the requests of all counted blocks."""

    count: int = Field(ge=0, description="Samples; a request without a value has none.")
    mean: float | None = Field(description="Arithmetic mean.")
    p50: Quantile | None = Field(description="Median.")
    p95: Quantile | None = Field(description="Null below 20 samples.")
    p99: Quantile | None = Field(description="Null below 100 samples.")

    def at(self, rank: int) -> Quantile | None:
        """Give p50, p95 or p99."""
        return {50: self.p50, 95: self.p95, 99: self.p99}[rank]


class Metric(ABC):
    """One metric; the class docstring carries definition and formula.

    :cvar tag: key in result.json.
    :cvar header: how the table calls it, with the unit it has there.
    :cvar unit: unit of the value in result.json; empty for a pure number.
    :cvar digits: decimals of a value below 100 in the table.
    :cvar scale: factor from the unit of result.json to that of the table.
    """

    tag: ClassVar[str]
    header: ClassVar[str]
    unit: ClassVar[str]
    digits: ClassVar[int] = 2
    scale: ClassVar[float] = 1.0

    def show(self, value: float | None) -> str:
        """Format a value for the table; ``-`` stands for no value."""
        if value is None:
            return "-"
        scaled = value * self.scale
        return f"{scaled:.{self.digits if abs(scaled) < 100 else 0}f}"


def percentiles(values: Mapping[Place, Sequence[float]]) -> Percentiles:
    """Give mean and percentiles.

    :param values: those of each prompt in each block where it has any.
    """
    table = Table.of(values)
    count = len(table.values)
    at = {
        rank: quantile_with_interval(table, rank / 100) if count >= fewest else None
        for rank, fewest in MIN_SAMPLES.items()
    }
    return Percentiles(
        count=count,
        mean=float(np.mean(table.values)) if count else None,
        p50=_quantile(at[50]),
        p95=_quantile(at[95]),
        p99=_quantile(at[99]),
    )


def _quantile(
    found: tuple[float, tuple[float, float] | None] | None,
) -> Quantile | None:
    return Quantile(value=found[0], interval=found[1]) if found else None


class RequestMetric(Metric):
    """Has one value per request; summarized by percentiles."""

    unit = "s"

    @abstractmethod
    def of(self, sample: Sample) -> float | None:
        """Give the request's value; None if it has none."""

    def all_of(self, sample: Sample) -> Sequence[float]:
        """Give all of the request's values, for a metric that has several."""
        value = self.of(sample)
        return () if value is None else (value,)

    def summarize(self, data: ArmData) -> Percentiles:
        """Give the percentiles over the requests of all blocks."""
        found: dict[Place, list[float]] = {}
        for sample in data.samples:
            if values := self.all_of(sample):
                place = sample.prompt_id, sample.block
                found.setdefault(place, []).extend(values)
        return percentiles(found)


class ArmMetric(Metric):
    """Has one value per arm and concurrency."""

    @abstractmethod
    def value(self, data: ArmData) -> float | None:
        """Compute the value; None if nothing was there to compute it from."""


def total(values: Iterable[float | None]) -> float | None:
    """Add up; None if any is not known, or there are none."""
    known = list(values)
    if not known or None in known:
        return None
    return sum(value for value in known if value is not None)


def share(part: float | None, whole: float | None) -> float | None:
    """Divide; None if the whole is zero, or either is not known."""
    return part / whole if whole and part is not None else None

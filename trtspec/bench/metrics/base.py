"""What a metric is: a name, a unit, a formula, and one way to compute it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import Field

from trtspec.bench.records import Arm, Block, Record, Sample

MIN_SAMPLES = {50: 1, 95: 20, 99: 100}
"""Fewest samples a percentile is given for: p95 and p99 need at least one sample that
is expected to lie beyond them."""


@dataclass(frozen=True, slots=True)
class ArmData:
    """What was measured in one arm at one concurrency, warm-up left out."""

    arm: Arm
    blocks: tuple[Block, ...]
    samples: tuple[Sample, ...]

    @classmethod
    def of(
        cls, arm: Arm, blocks: Sequence[Block], samples: Sequence[Sample]
    ) -> ArmData:
        """Pick one arm's counted blocks and samples."""
        return cls(
            arm,
            tuple(b for b in blocks if b.arm == arm and not b.warm_up),
            tuple(s for s in samples if s.arm == arm),
        )


class Percentiles(Record):
    """Percentiles over the requests of all counted blocks."""

    count: int = Field(ge=0, description="Samples; a request without a value has none.")
    p50: float | None = Field(description="Median.")
    p95: float | None = Field(description="Null below 20 samples.")
    p99: float | None = Field(description="Null below 100 samples.")


def percentile(values: Sequence[float], rank: int) -> float | None:
    """Interpolate linearly between order statistics (Hyndman and Fan's type 7).

    :param rank: 50, 95 or 99.
    :return: None if there are fewer samples than ``MIN_SAMPLES`` asks for.
    """
    if len(values) < MIN_SAMPLES[rank]:
        return None
    return float(np.percentile(values, rank, method="linear"))


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


class RequestMetric(Metric):
    """Has one value per request; summarized by percentiles."""

    unit = "s"

    @abstractmethod
    def of(self, sample: Sample) -> float | None:
        """Give the request's value; None if it has none."""

    def summarize(self, data: ArmData) -> Percentiles:
        """Give the percentiles over the requests of all blocks."""
        values = [v for s in data.samples if (v := self.of(s)) is not None]
        return Percentiles(
            count=len(values),
            p50=percentile(values, 50),
            p95=percentile(values, 95),
            p99=percentile(values, 99),
        )


class ArmMetric(Metric):
    """Has one value per arm and concurrency."""

    @abstractmethod
    def value(self, data: ArmData) -> float | None:
        """Compute the value; None if nothing was there to compute it from."""


def share(part: float, whole: float) -> float | None:
    """Divide; None if the whole is zero."""
    return part / whole if whole else None

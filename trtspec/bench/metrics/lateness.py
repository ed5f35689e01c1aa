"""How late an open loop's requests were sent."""

from trtspec.bench.metrics.base import (
    ArmData,
    Percentiles,
    RequestMetric,
    percentiles,
)
from trtspec.bench.records import Sample

_CLOCK = 1e-9
"""Seconds that a clock does not tell apart."""


class Lateness(RequestMetric):
    """Time of sending - time at which the request was due.

    Latencies count from the time due, so a late client makes them longer, not shorter.
    In a closed loop nothing is ever late, and there are no values.
    """

    tag = "lateness"
    header = "sent late ms"
    digits = 1
    scale = 1000.0

    def of(self, sample: Sample) -> float:
        """Give the lateness in seconds."""
        return sample.late

    def summarize(self, data: ArmData) -> Percentiles:
        """Give the percentiles; those in time count as 0, unless all are."""
        if any(sample.late > _CLOCK for sample in data.samples):
            return super().summarize(data)
        return percentiles({})

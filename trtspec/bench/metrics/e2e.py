"""How long a request takes from submission to its last token."""

from trtspec.bench.metrics.base import RequestMetric
from trtspec.bench.records import Sample


class E2E(RequestMetric):
    """E2E latency = last token time - submission time."""

    tag = "e2e"
    header = "E2E s"

    def of(self, sample: Sample) -> float:
        """Give the request's end-to-end latency in seconds."""
        return sample.e2e

"""How long a request waits for its first token."""

from trtspec.bench.metrics.base import RequestMetric
from trtspec.bench.records import Sample


class TTFT(RequestMetric):
    """Time to first token = first token time - submission time.

    Waiting in the queue and the prefill are part of it.
    """

    tag = "ttft"
    header = "TTFT ms"
    digits = 1
    scale = 1000.0

    def of(self, sample: Sample) -> float:
        """Give the request's time to first token in seconds."""
        return sample.ttft

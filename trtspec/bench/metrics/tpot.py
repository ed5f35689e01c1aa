"""How long a request takes for each further output token."""

from trtspec.bench.metrics.base import RequestMetric
from trtspec.bench.records import Sample


class TPOT(RequestMetric):
    """TPOT = (last token time - first token time) / (output tokens - 1).

    Tokens are counted as ids. The gap between two chunks of a stream is no TPOT: with
    speculation one chunk carries several tokens. None for a single token.
    """

    tag = "tpot"
    header = "TPOT ms"
    digits = 1
    scale = 1000.0

    def of(self, sample: Sample) -> float | None:
        """Give the request's time per output token in seconds."""
        return sample.tpot

"""How long the stream stands still between two chunks."""

from collections.abc import Sequence
from itertools import pairwise

from trtspec.bench.metrics.base import RequestMetric
from trtspec.bench.records import Sample


class ChunkGap(RequestMetric):
    """Chunk gap = time between two chunks of one stream; every gap counts.

    A chunk can carry several tokens, with speculation above all, so a gap is no time
    per token: it is what a reader sees of the stream's smoothness.
    """

    tag = "chunk_gap"
    header = "chunk gap ms"
    digits = 1
    scale = 1000.0

    def of(self, sample: Sample) -> float | None:
        """Give the request's longest gap in seconds; None for a single chunk."""
        return max(self.all_of(sample), default=None)

    def all_of(self, sample: Sample) -> Sequence[float]:
        """Give every gap in seconds."""
        return [after - before for (before, _), (after, _) in pairwise(sample.chunks)]

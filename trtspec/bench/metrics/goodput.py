"""How many requests per second keep the user's latency limits."""

from collections import Counter
from collections.abc import Mapping
from statistics import median

from trtspec.bench.metrics.base import ArmData, ArmMetric
from trtspec.bench.records import Sample


class Goodput(ArmMetric):
    """Requests of a block that keep every limit / its wall seconds; median over blocks.

    Limits are seconds for ttft, tpot and e2e; a value at its limit keeps it. A single
    token has no TPOT and keeps that limit. None if no limits were given, or if a
    request has a limit but no value: all its tokens in one chunk tell no TPOT.
    """

    tag = "goodput"
    header = "good requests/s"
    unit = "requests/s"

    def value(self, data: ArmData) -> float | None:
        """Give the median over blocks in requests per second."""
        if not data.goodput or not data.blocks:
            return None
        kept = [(s.block, keeps(s, data.goodput)) for s in data.samples]
        if any(keep is None for _, keep in kept):
            return None
        good = Counter(block for block, keep in kept if keep)
        return median(good[b.block] / b.wall_seconds for b in data.blocks)


def keeps(sample: Sample, limits: Mapping[str, float]) -> bool | None:
    """Whether a request keeps every limit; None if that cannot be known."""
    single = 0.0 if sample.output_tokens == 1 else None
    tpot = single if sample.tpot is None else sample.tpot
    values = {"ttft": sample.ttft, "tpot": tpot, "e2e": sample.e2e}
    known = [(values[tag], limit) for tag, limit in limits.items()]
    if any(value is not None and value > limit for value, limit in known):
        return False
    return None if any(value is None for value, _ in known) else True

"""How many requests are finished per second."""

from statistics import median

from trtspec.bench.metrics.base import ArmData, ArmMetric


class RequestThroughput(ArmMetric):
    """Requests of a block / wall seconds of the block; median over blocks."""

    tag = "request_throughput"
    header = "requests/s"
    unit = "requests/s"

    def value(self, data: ArmData) -> float | None:
        """Give the median over blocks in requests per second."""
        if not data.blocks:
            return None
        return median(b.requests / b.wall_seconds for b in data.blocks)

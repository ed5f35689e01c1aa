"""How many tokens come out per second, over all requests in flight."""

from statistics import median

from trtspec.bench.metrics.base import ArmData, ArmMetric


class OutputThroughput(ArmMetric):
    """Output tokens of a block / wall seconds of the block; median over blocks.

    The wall seconds include prefill, scheduling, and the end of the block where fewer
    requests than the concurrency are left.
    """

    tag = "output_throughput"
    header = "output tokens/s"
    unit = "tokens/s"
    digits = 1

    def value(self, data: ArmData) -> float | None:
        """Give the median over blocks in tokens per second."""
        if not data.blocks:
            return None
        return median(b.output_tokens / b.wall_seconds for b in data.blocks)

"""How many tokens are worked through per second, prompts included."""

from statistics import median

from trtspec.bench.metrics.base import ArmData, ArmMetric


class TotalThroughput(ArmMetric):
    """(Prompt + output tokens of a block) / its wall seconds; median over blocks.

    None if a server does not tell the prompt tokens.
    """

    tag = "total_throughput"
    header = "total tokens/s"
    unit = "tokens/s"
    digits = 1

    def value(self, data: ArmData) -> float | None:
        """Give the median over blocks in tokens per second."""
        rates = [
            (b.prompt_tokens + b.output_tokens) / b.wall_seconds
            for b in data.blocks
            if b.prompt_tokens is not None
        ]
        return median(rates) if rates and len(rates) == len(data.blocks) else None

"""How many tokens an engine step emits, over the whole batch."""

from trtspec.bench.metrics.base import ArmData, ArmMetric, share, total


class TokensPerStep(ArmMetric):
    """Tokens emitted in decode steps / decode steps of the engine.

    A step serves all running requests, so this is acceptance length times the mean
    batch. None if the engine does not tell its steps.
    """

    tag = "tokens_per_step"
    header = "tokens/engine step"
    unit = "tokens/step"

    def value(self, data: ArmData) -> float | None:
        """Give the mean over all counted blocks."""
        steps = [b.decode for b in data.blocks]
        return share(
            total(s.emitted if s else None for s in steps),
            total(s.steps if s else None for s in steps),
        )

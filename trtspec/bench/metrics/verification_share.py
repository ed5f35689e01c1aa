"""Which share of the decode time goes into the target model's forward."""

from trtspec.bench.metrics.base import ArmData, ArmMetric, share, total


class VerificationShare(ArmMetric):
    """Sum of target forward time / sum of decode step time, over all counted blocks.

    What drafting and this leave of 1 is acceptance, rollback, sampling and scheduling.
    None if no decode step was recorded.
    """

    tag = "verification_share"
    header = "target forward %"
    unit = ""
    digits = 1
    scale = 100.0

    def value(self, data: ArmData) -> float | None:
        """Give the share, between 0 and 1."""
        steps = [b.decode for b in data.blocks]
        return share(
            total(s.forward_seconds if s else None for s in steps),
            total(s.seconds if s else None for s in steps),
        )

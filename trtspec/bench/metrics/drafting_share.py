"""Which share of the decode time goes into proposing tokens."""

from trtspec.bench.metrics.base import ArmData, ArmMetric, share, total


class DraftingShare(ArmMetric):
    """Sum of drafting time / sum of decode step time, over all counted blocks.

    Drafting is everything the drafter does in decode steps: lookup or the draft
    model's forward, and sampling from it. None if no decode step was recorded.
    """

    tag = "drafting_share"
    header = "drafting %"
    unit = ""
    digits = 1
    scale = 100.0

    def value(self, data: ArmData) -> float | None:
        """Give the share, between 0 and 1."""
        steps = [b.decode for b in data.blocks]
        return share(
            total(s.draft_seconds if s else None for s in steps),
            total(s.seconds if s else None for s in steps),
        )

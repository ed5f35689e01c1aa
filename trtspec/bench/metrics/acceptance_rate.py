"""Which share of the draft tokens became output."""

from trtspec.bench.metrics.base import ArmData, ArmMetric, share, total


class AcceptanceRate(ArmMetric):
    """Acceptance rate = sum of accepted / sum of drafted tokens, over all requests.

    The denominator is what was really proposed, step by step, not the draft length
    times the steps. None if nothing was drafted, or the engine does not tell.
    """

    tag = "acceptance_rate"
    header = "acceptance rate"
    unit = ""
    digits = 3

    def value(self, data: ArmData) -> float | None:
        """Give the rate, between 0 and 1."""
        accepted = total(s.accepted for s in data.samples)
        return share(accepted, total(s.drafted for s in data.samples))

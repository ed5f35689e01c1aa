"""Which share of the draft tokens became output."""

from trtspec.bench.metrics.base import ArmData, ArmMetric, share


class AcceptanceRate(ArmMetric):
    """Acceptance rate = sum of accepted / sum of drafted tokens, over all requests.

    The denominator is what was really proposed, step by step, not the draft length
    times the steps. None if nothing was drafted.
    """

    tag = "acceptance_rate"
    header = "acceptance rate"
    unit = ""
    digits = 3

    def value(self, data: ArmData) -> float | None:
        """Give the rate, between 0 and 1."""
        accepted = sum(s.accepted for s in data.samples)
        return share(accepted, sum(s.drafted for s in data.samples))

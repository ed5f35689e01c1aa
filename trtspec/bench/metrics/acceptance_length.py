"""How many tokens a verification step yields."""

from trtspec.bench.metrics.base import ArmData, ArmMetric, share, total


class AcceptanceLength(ArmMetric):
    """Acceptance length = 1 + sum of accepted tokens / sum of verification steps.

    The 1 is the bonus token. Sums run over all requests; plain decoding has 1. None
    if there was no step after the prefill, or the engine does not tell its steps.
    """

    tag = "acceptance_length"
    header = "acceptance length"
    unit = "tokens/step"

    def value(self, data: ArmData) -> float | None:
        """Give the mean number of tokens per step of a request."""
        accepted = total(s.accepted for s in data.samples)
        per_step = share(accepted, total(s.steps for s in data.samples))
        return None if per_step is None else 1 + per_step

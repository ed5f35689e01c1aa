"""How fast a drafter learns at which step: warm up, stay, come down to nothing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Schedule:
    """Learning rate over the steps of a run.

    While the rate stays, a run can be made longer; what is exported is an average over
    the last steps, which does in the meantime what coming down does in the end.

    :param peak: the highest learning rate.
    :param steps: of the whole run.
    :param warmup: steps until the peak.
    :param decay: share of the steps at the end in which it comes down.
    """

    peak: float
    steps: int
    warmup: int
    decay: float

    def rate(self, step: int) -> float:
        """Give the learning rate of a step, counted from 0."""
        rising = (step + 1) / self.warmup if self.warmup else 1.0
        left = (self.steps - step) / max(self.steps * self.decay, 1)
        return self.peak * min(1.0, rising, left)

"""What a draft length would bring, from traces and costs: no model runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trtspec.tune.costs import StepCosts
from trtspec.tune.replay import GroupSize, LengthAt, replay
from trtspec.tune.trace import PromptTrace


@dataclass(frozen=True, slots=True)
class Prediction:
    """What one setting would do under one load.

    :param seconds: of all decode steps, and of reading the prompts.
    :param tokens: emitted.
    """

    acceptance_length: float | None
    seconds: float
    tokens: int

    @property
    def throughput(self) -> float:
        """Output tokens per second."""
        return self.tokens / self.seconds


def predict(
    traces: Sequence[PromptTrace],
    costs: StepCosts,
    concurrency: int,
    length_at: LengthAt,
    *,
    prefill_seconds: float = 0.0,
    group_size: GroupSize = len,
) -> Prediction:
    """Replay the workload and add up what its steps cost.

    :param prefill_seconds: of reading all prompts; the same for every setting.
    """
    found = replay(traces, concurrency, length_at, group_size)
    seconds = sum(costs.step(s.running, s.longest) for s in found.steps)
    return Prediction(
        acceptance_length=found.acceptance_length,
        seconds=seconds + prefill_seconds,
        tokens=sum(trace.emitted for trace in traces),
    )


def smallest_within(predicted: Mapping[int, float], margin: float) -> int:
    """Give the smallest draft length whose throughput is near the best.

    :param predicted: throughput by draft length; 0 is among them.
    :param margin: relative; how uncertain the predictions are.
    """
    best = max(predicted.values())
    return min(k for k, rate in predicted.items() if rate >= best * (1 - margin))

"""What a draft length would bring, from traces and costs: no model runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from trtspec.tune.costs import StepCosts
from trtspec.tune.replay import GroupSize, LengthAt, Replayed, replay
from trtspec.tune.trace import PromptTrace


@dataclass(frozen=True, slots=True)
class Prediction:
    """What one setting would do under one load.

    :param acceptance_length: None if no step was taken.
    :param seconds: of all steps, prompts read included.
    :param tokens: emitted.
    :param steps: of the engine; reading prompts is none.
    """

    acceptance_length: float | None
    seconds: float
    tokens: int
    steps: int

    @property
    def throughput(self) -> float:
        """Output tokens per second."""
        return self.tokens / self.seconds


def together(parts: Sequence[Prediction]) -> Prediction:
    """Add up predictions of one workload's courses."""
    if len(parts) == 1:
        return parts[0]
    lengths = [part.acceptance_length for part in parts]
    told = [length for length in lengths if length is not None]
    return Prediction(
        acceptance_length=sum(told) / len(told) if told else None,
        seconds=sum(part.seconds for part in parts),
        tokens=sum(part.tokens for part in parts),
        steps=sum(part.steps for part in parts),
    )


def predict(
    traces: Sequence[PromptTrace],
    costs: StepCosts,
    concurrency: int,
    length_at: LengthAt,
    group_size: GroupSize = len,
) -> Prediction:
    """Replay the workload in a closed loop and add up what its steps cost."""
    found = replay(traces, concurrency, length_at, group_size)
    return priced(found, traces, costs)


def predict_plain(
    traces: Sequence[PromptTrace],
    costs: StepCosts,
    concurrency: int,
    group_size: GroupSize = len,
) -> Prediction:
    """The same of plain decoding, whose steps are those of all candidates."""
    answers = tuple((t.prompt_id, t.prompt_tokens, t.emitted) for t in traces)
    return priced(_plainly(answers, concurrency, group_size), traces, costs)


@lru_cache(maxsize=64)
def _plainly(
    answers: tuple[tuple[str, int, int], ...], concurrency: int, group_size: GroupSize
) -> Replayed:
    none = [
        PromptTrace.model_construct(
            prompt_id=name,
            prompt_tokens=prompt,
            limit=emitted,
            emitted=emitted,
            offered=(0,) * emitted,
            accepted=(0,) * emitted,
            drafted=None,
            verified=None,
        )
        for name, prompt, emitted in answers
    ]
    return replay(none, concurrency, lambda _: 0, group_size)


def priced(
    found: Replayed, traces: Sequence[PromptTrace], costs: StepCosts
) -> Prediction:
    """Add up what the steps of a replay cost."""
    seconds = sum(
        costs.step(s.running, s.asked, s.longest, s.context) for s in found.steps
    )
    drafts = any(step.asked for step in found.steps)
    return Prediction(
        acceptance_length=found.acceptance_length,
        seconds=seconds + costs.reading(found.groups, found.read, drafts=drafts),
        tokens=sum(trace.emitted for trace in traces),
        steps=len(found.steps),
    )

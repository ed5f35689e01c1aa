"""What trying everything would take."""

from __future__ import annotations

from collections.abc import Sequence

from trtspec.tune.bill import Item
from trtspec.tune.decide import Choice


def predicted_sweep(choices: Sequence[Choice]) -> Item:
    """Add up one run of each: plain decoding, and every length of every candidate.

    As if every batch stayed full to the end, and each prompt were read alone.
    """
    steps = seconds = 0.0
    for index, choice in enumerate(choices):
        evidence, loads = choice.evidence, choice.question.loads
        courses = evidence.courses
        tokens = sum(trace.emitted - 1 for trace in evidence.traces) / courses
        answers = len(evidence.traces) // courses
        prompt = sum(trace.prompt_tokens for trace in evidence.traces) // courses
        for point in (p for load in loads for p in choice.surface[load]):
            if index and not point.length:
                continue  # plain decoding is the same for all
            taken = tokens / (point.batch * point.tokens)
            steps += taken
            seconds += taken * point.seconds
            seconds += evidence.costs.reading(answers, prompt, drafts=point.length > 0)
    return Item(
        part="sweep",
        engine_starts=len(choices),
        steps=round(steps),
        model_seconds=seconds,
        seconds=seconds,
    )

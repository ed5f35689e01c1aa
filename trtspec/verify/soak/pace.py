"""Whether some steps brought fewer tokens than others did, beyond chance.

Tokens per step is the acceptance length. It is counted from the chunks of a stream, so
that it is there for every engine; one that sends several steps in a chunk has larger
numbers, and they compare as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from trtspec.bench.doubts.acceptance import CHANGED
from trtspec.verify.soak.record import Check, CheckName, Pace

ENOUGH_STEPS = 30
SCARCE = 0.05
"""Accepted tokens per step below which nobody can say that they came back."""
NONE_SEEN = 3.0
"""Over n: the largest rate of what was not seen once in n trials, with 95 %."""
DEVIATIONS = 4.0
"""Standard deviations; a soak compares a dozen pairs, and 1 in 3000 soaks errs."""


def pace_of(tokens: Sequence[int]) -> Pace:
    """Describe the tokens of some steps."""
    steps = len(tokens)
    mean = sum(tokens) / steps if steps else 0.0
    squares = sum((count - mean) ** 2 for count in tokens)
    deviation = math.sqrt(squares / (steps - 1)) if steps > 1 else 0.0
    return Pace(steps=steps, mean=mean, deviation=deviation)


def pace_of_requests(counts: Sequence[tuple[int, int]]) -> Pace:
    """Describe steps of which only the sums per request are told.

    :param counts: tokens and steps of each request, those of the prefill left out. How
        far requests lie apart stands for how far their steps do.
    """
    known = [(tokens, steps) for tokens, steps in counts if steps > 0]
    steps = sum(count for _, count in known)
    mean = sum(tokens for tokens, _ in known) / steps if steps else 0.0
    squares = sum(count * (tokens / count - mean) ** 2 for tokens, count in known)
    deviation = math.sqrt(squares / (len(known) - 1)) if len(known) > 1 else 0.0
    return Pace(steps=steps, mean=mean, deviation=deviation)


def compare(
    name: CheckName, where: str, before: Pace, after: Pace, drafted: int | None = None
) -> Check:
    """Fail if what is accepted got less by more than 15 % and by more than chance.

    Accepted are the tokens of a step but for the bonus token. Where there are hardly
    any, or so few steps that losing them all would not show, it cannot be told.

    :param drafted: the draft length there; 0 leaves nothing to compare.
    """
    what = f"{where}: {before.mean:.2f} tokens per step before, {after.mean:.2f} now"
    if drafted == 0:
        return Check(name=name, verdict="pass", what=f"{where}: nothing is drafted")
    few = min(before.steps, after.steps)
    if few < ENOUGH_STEPS:
        return Check(name=name, verdict="cannot tell", what=f"{where}: {few} steps")
    lost, accepted = before.mean - after.mean, max(before.mean - 1.0, 0.0)
    chance = DEVIATIONS * _error(before, after)
    least = max(CHANGED * accepted, chance)
    if lost > least:
        return Check(name=name, verdict="fail", what=f"{what}, for the same prompts")
    if accepted < SCARCE or chance >= accepted:
        seen = max(least, NONE_SEEN / few)
        return Check(
            name=name,
            verdict="cannot tell",
            what=f"{what}: too little is accepted to say that it came back; the "
            f"smallest loss that would have been seen is {seen:.2g} tokens per step",
        )
    return Check(name=name, verdict="pass", what=what)


def _error(one: Pace, other: Pace) -> float:
    """Standard error of the difference of two means."""
    return math.sqrt(one.deviation**2 / one.steps + other.deviation**2 / other.steps)

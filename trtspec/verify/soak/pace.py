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
DEVIATIONS = 4.0
"""Standard deviations; a soak compares a dozen pairs, and 1 in 3000 soaks errs."""


def pace_of(tokens: Sequence[int]) -> Pace:
    """Describe the tokens of some steps."""
    steps = len(tokens)
    mean = sum(tokens) / steps if steps else 0.0
    squares = sum((count - mean) ** 2 for count in tokens)
    deviation = math.sqrt(squares / (steps - 1)) if steps > 1 else 0.0
    return Pace(steps=steps, mean=mean, deviation=deviation)


def compare(name: CheckName, where: str, before: Pace, after: Pace) -> Check:
    """Fail if what is accepted got less by more than 15 % and by more than chance.

    Accepted are the tokens of a step but for the bonus token.
    """
    what = f"{where}: {before.mean:.2f} tokens per step before, {after.mean:.2f} now"
    if min(before.steps, after.steps) < ENOUGH_STEPS:
        few = min(before.steps, after.steps)
        return Check(name=name, verdict="cannot tell", what=f"{where}: {few} steps")
    lost = before.mean - after.mean
    trifle = CHANGED * max(before.mean - 1.0, 0.0)
    if lost > trifle and lost > DEVIATIONS * _error(before, after):
        return Check(name=name, verdict="fail", what=f"{what}, for the same prompts")
    return Check(name=name, verdict="pass", what=what)


def _error(one: Pace, other: Pace) -> float:
    """Standard error of the difference of two means."""
    return math.sqrt(one.deviation**2 / one.steps + other.deviation**2 / other.steps)

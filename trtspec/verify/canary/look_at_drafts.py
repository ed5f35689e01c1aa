"""Whether acceptance is what a drafter could have, and whether it lasts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trtspec.bench.doubts.acceptance import CHANGED, PINNED
from trtspec.verify.arm import Answer
from trtspec.verify.canary.record import (
    Check,
    CheckName,
    Drafting,
    failed,
    passed,
    untold,
)

ENOUGH_DRAFTED = 100
"""Draft tokens. A drafter that is right 97 times of 100 has a hundred right ones in a
row in 5 % of runs; below, an easy prompt may do it, and a bad drafter may miss all."""

FEWEST_LENGTHS, FEWEST_STEPS, SAME = 3, 12, 0.02
"""Requests, steps of each, and the difference of their accepted tokens per step. In 12
steps a drafter's mean scatters by 0.2 and more; three alike are one in hundreds. It
finds trees at their ceiling, whose drafted tokens count all branches."""
_NO_DRAFTER = "acceptance is forced, or the drafter is the target itself"

DEVIATIONS = 3.0
"""Standard deviations of a share that a loss must exceed: 1 in 700 canaries errs."""

SUSPECTS = (
    "look at the kind of the head, at the reuse of the draft's cache and at the "
    "draft's precision first"
)


def drafting(answers: Sequence[Answer], at_once: int) -> Drafting:
    """Add up the draft tokens of one round."""
    told = [
        (a.drafted, a.accepted)
        for a in answers
        if a.drafted is not None and a.accepted is not None
    ]
    if len(told) < len(answers) or not told:
        nothing = {"drafted": None, "accepted": None, "rate": None}
        return Drafting(requests=len(answers), at_once=at_once, **nothing)
    drafted, accepted = (sum(numbers) for numbers in zip(*told, strict=True))
    return Drafting(
        requests=len(answers),
        at_once=at_once,
        drafted=drafted,
        accepted=accepted,
        rate=accepted / drafted if drafted else None,
    )


def look_at_drafts(
    answers: Sequence[Answer], seen: Drafting, *, always_drafts: bool
) -> Check:
    """Fail if acceptance is at its floor, at its ceiling, or always the same.

    :param always_drafts: whether the method proposes something at each step, so that
        nothing drafted is a fault; n-grams may find nothing.
    """
    if seen.drafted is None:
        return untold("acceptance", "the engine does not tell of draft tokens")
    if not seen.drafted:
        what = "nothing was drafted"
        if always_drafts:
            return failed("acceptance", f"{what}: speculation is off; {SUSPECTS}")
        return untold("acceptance", f"{what}: the drafter found nothing")
    figures = f"{seen.accepted} of {seen.drafted} draft tokens were accepted"
    if seen.drafted < ENOUGH_DRAFTED:
        return untold("acceptance", f"{figures}: too few to tell")
    if fault := _pinned_at(answers, seen):
        return failed("acceptance", f"{figures}{fault}")
    return passed("acceptance", f"{figures}, rate {seen.rate:.2f}")


def _pinned_at(answers: Sequence[Answer], seen: Drafting) -> str:
    """Say where acceptance is pinned; empty if it is not."""
    accepted, drafted = seen.accepted or 0, seen.drafted or 0
    if not accepted:
        return f": speculation does nothing; {SUSPECTS}"
    if accepted >= PINNED * drafted:
        return f", the ceiling: {_NO_DRAFTER}"
    lengths = [length for a in answers if (length := _length_of(a)) is not None]
    if len(lengths) < FEWEST_LENGTHS or max(lengths) - min(lengths) > SAME:
        return ""
    return f", {lengths[0]:.2f} in every step of every request: {_NO_DRAFTER}"


def _length_of(answer: Answer) -> float | None:
    """Accepted tokens per step; None if steps are not told, or too few."""
    steps = answer.steps
    if steps is None or steps < FEWEST_STEPS or not answer.accepted:
        return None
    return answer.accepted / steps


def look_at_loss(name: CheckName, before: Drafting, after: Drafting) -> Check:
    """Fail if the same prompts have a lower acceptance than they had.

    Lower is one that is less by more than 15 % and by more than chance.
    """
    if not before.drafted or not after.drafted:
        if before.drafted and after.drafted == 0:
            what = f"{before.drafted} tokens were drafted before, and none now"
            return failed(name, what)
        return untold(name, "too few draft tokens are told to compare")
    assert before.rate is not None, "it drafted"
    assert after.rate is not None, "it drafted"
    what = f"rate {before.rate:.2f} before, {after.rate:.2f} now"
    lost = before.rate - after.rate
    if lost > CHANGED * before.rate and lost > DEVIATIONS * _deviation(before, after):
        return failed(name, f"acceptance fell: {what}")
    if min(before.drafted, after.drafted) < ENOUGH_DRAFTED:
        return untold(name, f"{what}: too few draft tokens to tell")
    return passed(name, what)


def _deviation(one: Drafting, other: Drafting) -> float:
    """Standard deviation of the difference of two shares, pooled."""
    if not one.drafted or not other.drafted:
        return math.inf
    accepted = (one.accepted or 0) + (other.accepted or 0)
    share = accepted / (one.drafted + other.drafted)
    variance = share * (1 - share) * (1 / one.drafted + 1 / other.drafted)
    return math.sqrt(variance)

"""What follows from the figures: pass, fail or cannot tell, and why."""

from __future__ import annotations

from trtspec.verify.distribution.plan import Plan
from trtspec.verify.distribution.result import Comparison, Drafts, Verdict

_SHARPER = 1.25
"""Times as many equal pairs: then it is said which way the distribution moved."""


def judge(
    on: Comparison, floor: Comparison, control: Comparison, drafts: Drafts, plan: Plan
) -> tuple[Verdict, tuple[str, ...]]:
    """Give the verdict and its reasons.

    A difference counts only where off against off shows none; its absence only where
    the control, which is wrong, was found by the very same test.
    """
    if doubts := tuple(_floor_doubts(floor)):
        return "cannot tell", doubts
    if on.differs:
        return "fail", tuple(_differences(on))
    if doubts := tuple(_power_doubts(control, drafts)):
        return "cannot tell", doubts
    return "pass", (_passed(on, control, plan),)


def _floor_doubts(floor: Comparison) -> list[str]:
    doubts = []
    if one_answer(floor, 1):
        doubts.append(
            "the off arm gives one answer to each prompt whatever the seed: it does "
            "not sample, or ignores seeds and starts anew with every request"
        )
    if floor.p_value <= floor.level:
        doubts.append(
            f"off differs from off (p = {floor.p_value:.2g}): its answers are not "
            "independent draws from one distribution"
        )
    return doubts


def _differences(on: Comparison) -> list[str]:
    reasons = []
    if on.p_value <= on.level:
        reasons.append(
            f"on differs from off over all prompts: G = {on.statistic:.0f}, where "
            f"{on.expected:.0f} +- {on.spread:.0f} is chance (p = {on.p_value:.2g}); "
            f"a shift of up to {on.shift:.2f} in total variation"
        )
    if found := [one.prompt for one in on.prompts if one.found]:
        reasons.append(
            f"it does so in {len(found)} of {len(on.prompts)} prompts: "
            f"{', '.join(found[:5])}{', ...' if len(found) > 5 else ''}"
        )
    return [*reasons, *_direction(on)]


def _direction(on: Comparison) -> list[str]:
    """Say which way the distribution moved, where that is clear."""
    if one_answer(on, 0):
        return [
            "every prompt has one answer with speculation on, whatever the seed: it "
            "decodes greedily (collapse to argmax)"
        ]
    is_on, is_off = on.repeats
    shares = f"({is_on:.1%} of pairs of answers are equal, {is_off:.1%} off)"
    if is_on > _SHARPER * is_off:
        return [f"the distribution is sharper with speculation on {shares}"]
    if is_off > _SHARPER * is_on:
        return [f"the distribution is flatter with speculation on {shares}"]
    return []


def one_answer(comparison: Comparison, which: int) -> bool:
    """Whether one sample has a single answer to every prompt."""
    size = comparison.sizes[which]
    return all(one.distinct[which] * size < 1.5 for one in comparison.prompts)


def _power_doubts(control: Comparison, drafts: Drafts) -> list[str]:
    doubts = []
    if drafts.drafted == 0:
        doubts.append("nothing was drafted, so nothing of speculation was tested")
    if not control.differs:
        doubts.append(
            f"the negative control ({control.first}) was not found either "
            f"(p = {control.p_value:.2g}): the test lacks power on these prompts"
        )
    return doubts


def _passed(on: Comparison, control: Comparison, plan: Plan) -> str:
    least = on.smallest_shift
    seen = f"a shift of {least:.2f} everywhere" if least else "no shift, however large,"
    return (
        f"no difference (p = {on.p_value:.2g}); {seen} would have been found with a "
        f"chance of {plan.power:.0%}, and the negative control was (shift up to "
        f"{control.shift:.2f})"
    )

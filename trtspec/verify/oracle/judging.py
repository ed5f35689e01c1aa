"""What follows from the oracle's figures of sampled tokens: a verdict, and why."""

from __future__ import annotations

from trtspec.verify.distribution.result import Drafts
from trtspec.verify.greedy.records import Verdict
from trtspec.verify.oracle.record import SampledArm

_MOVED = 0.05
"""By how much the share of likeliest tokens must differ to say which way it went."""


def judge(
    off: SampledArm,
    on: SampledArm,
    control: SampledArm,
    drafts: Drafts,
    rounding: float,
) -> tuple[Verdict, tuple[str, ...]]:
    """Give the verdict and its reasons.

    A difference counts only where the off arm has none, and where it is more than
    rounding makes; its absence only where the control was found by the same test.

    :param rounding: see ``OracleSampled``.
    """
    if not off.tokens or not on.tokens:
        return "cannot tell", ("the answers do not tell their tokens one by one",)
    if off.differs and off.shift > rounding:
        return "cannot tell", (
            f"the off arm's own tokens are not drawn from the reference engine's "
            f"distribution (p = {off.p_value:.2g}, shift up to {off.shift:.2f}): the "
            "two do not run the same model, or do not sample by the same rules",
        )
    if on.differs:
        if on.shift <= rounding:
            return "cannot tell", (
                f"on differs from the reference by a shift of up to {on.shift:.2g}, "
                f"which rounding can make ({rounding:.2g})",
            )
        return "fail", tuple(_differences(on))
    doubts = []
    if drafts.drafted == 0:
        doubts.append("nothing was drafted, so nothing of speculation was tested")
    if not control.differs:
        doubts.append(
            f"the negative control ({control.arm}) was not found either "
            f"(p = {control.p_value:.2g}): the test lacks power behind these texts"
        )
    if doubts:
        return "cannot tell", tuple(doubts)
    return "pass", (_passed(on, control),)


def _differences(on: SampledArm) -> list[str]:
    reasons = [
        f"tokens of {on.arm} are not drawn from the reference engine's distribution: "
        f"G = {on.statistic:.0f}, where {on.expected:.0f} +- {on.spread:.0f} is chance "
        f"(p = {on.p_value:.2g}); a shift of up to {on.shift:.2f} in total variation"
    ]
    if found := [one for one in on.positions if one.found]:
        first = found[0]
        reasons.append(
            f"they are so behind {len(found)} of {len(on.positions)} texts, such as "
            f"prompt {first.prompt_id} with {first.after} tokens of its answer"
        )
    if on.outside:
        reasons.append(
            f"{on.outside} of {on.tokens} tokens are outside of what temperature, "
            "top-k and top-p leave"
        )
    lead = on.likeliest - on.likeliest_expected
    if abs(lead) > _MOVED:
        way = "sharper" if lead > 0 else "flatter"
        reasons.append(
            f"the distribution is {way}: {on.likeliest:.1%} are the likeliest token, "
            f"{on.likeliest_expected:.1%} expected"
        )
    return reasons


def _passed(on: SampledArm, control: SampledArm) -> str:
    least = on.smallest_shift
    seen = f"a shift of {least:.2f} everywhere" if least else "no shift, however large,"
    return (
        f"no difference from the reference engine (p = {on.p_value:.2g}); {seen} would "
        f"have been found, and the negative control was (shift up to "
        f"{control.shift:.2f})"
    )

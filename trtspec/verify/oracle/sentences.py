"""How the oracle's findings read: a line per arm."""

from __future__ import annotations

from trtspec.verify.oracle.greedy import Oracle, OracleArm
from trtspec.verify.oracle.logprobs import LogprobArm
from trtspec.verify.oracle.record import OracleSampled, SampledArm


def oracle_lines(found: Oracle) -> list[str]:
    """Say what judged, and how each arm came out."""
    return [
        *(_line(arm) for arm in found.arms),
        *(_logprob_line(arm) for arm in found.logprobs),
        f"judged by {found.reference}",
        f"tolerance: {found.tolerance.words}",
    ]


def _line(arm: OracleArm) -> str:
    return (
        f"{arm.arm}: {arm.likeliest.of} tokens of {arm.prompts} answers: "
        f"{arm.likeliest.count} the likeliest, near ties {arm.near_ties.count} "
        f"({arm.near_ties.count / arm.near_ties.of:.2%}), wrong {arm.wrong.count} "
        f"(at most {arm.wrong.high:.2%}); largest gap {arm.largest_gap:.3g}"
    )


def _logprob_line(arm: LogprobArm) -> str:
    if arm.wrong is None:
        return f"{arm.arm}: log-probabilities: none told"
    return (
        f"{arm.arm}: {arm.values} log-probabilities: {arm.wrong.count} differ from the "
        f"reference's by more than a near tie; largest difference {arm.largest:.3g}"
    )


def sampled_oracle_lines(found: OracleSampled) -> list[str]:
    """Say what was asked, how each arm came out, and what would have been seen."""
    plan = found.plan
    return [
        f"{found.requests} requests at temperature {plan.temperature:g}, top-p "
        f"{plan.top_p:g}, behind {len(found.on.positions)} texts: {plan.places} tokens "
        f"of each answer, by {found.compared}",
        *(_sampled_line(arm) for arm in (found.off, found.on)),
        f"negative control: {_sampled_line(found.control)}",
        f"judged by {found.reference}; rounding moves it by {found.rounding:.2g}",
    ]


def _sampled_line(arm: SampledArm) -> str:
    word = "differs" if arm.differs else "no difference"
    least = arm.smallest_shift
    seen = "none could be seen" if least is None else f"{least:.2g} would be seen"
    return (
        f"{arm.arm}: {word}, p = {arm.p_value:.2g} (level {arm.level:.2g}), "
        f"{arm.tokens} tokens, {arm.outside} of them impossible; shift about "
        f"{arm.shift:.2g}, of shifts {seen}"
    )

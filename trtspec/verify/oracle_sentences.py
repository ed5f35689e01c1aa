"""How the oracle's findings read: one line per arm."""

from __future__ import annotations

from trtspec.verify.oracle import Oracle, OracleArm


def oracle_lines(found: Oracle) -> list[str]:
    """Say what judged, and how each arm came out."""
    return [
        *(_line(arm) for arm in found.arms),
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

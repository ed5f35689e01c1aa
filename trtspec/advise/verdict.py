"""Whether a way to speculate can be used, by what check finds in its recipe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from trtspec.advise.drafters import Drafter
from trtspec.advise.target import Target
from trtspec.check.finding import Finding

State = Literal["usable", "download", "get", "no"]
"""Usable as it is; once build has downloaded the drafter; only with something that is
not here; not at all."""

MACHINE_RULES = frozenset({"installation", "driver", "gpu", "forced-acceptance"})
"""Rules about this machine alone: what they refuse is not the recipe's fault."""


def verdict(
    findings: Sequence[Finding], drafter: Drafter | None, target: Target
) -> tuple[State, tuple[str, ...]]:
    """Give the state of a way, and what is to be got, or what keeps it from use."""
    blocking = [f for f in findings if f.blocks]
    faults = [f for f in blocking if f.rule not in MACHINE_RULES]
    if faults:
        return "no", tuple(f"{f.what} ({f.rule})" for f in faults)
    if blocking:
        return "get", tuple(dict.fromkeys(map(_lacking, blocking)))
    if drafter is None or drafter.is_here:
        return "usable", ()
    if drafter.origin == "given":
        return "download", ()
    doubt = "published, not verified on this machine"
    if target.by_folder:
        doubt += ", and found by the name of the target's folder alone"
    return "download", (f"{doubt}: {drafter.told_by}",)


def _lacking(finding: Finding) -> str:
    """Say what this machine lacks, and how it gets it."""
    return f"{finding.what}: {finding.action}" if finding.action else finding.what

"""Whether the baseline really decoded without drafting."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.bench.cells import Doubt
from trtspec.bench.metrics import ArmData
from trtspec.bench.result import Plan


def baseline_doubts(plan: Plan, on: ArmData, off: ArmData) -> Iterator[Doubt]:
    """Look for drafts in the baseline, or for a server that does not tell."""
    drafted = [s.drafted for s in off.samples]
    if known := sum(d or 0 for d in drafted):
        yield Doubt(
            id="baseline-drafts",
            what=f"the baseline, arm {off.arm}, drafted {known} tokens: it is no "
            "decoding without speculation",
            fatal=True,
        )
    arm = next((a for a in plan.arms if a.name == off.arm), None)
    if arm and arm.endpoint and None in drafted and not known:
        yield Doubt(
            id="baseline-unverified",
            what=f"{arm.endpoint.url} does not say how much it drafts, so that arm "
            f"{off.arm} runs without speculation is taken on trust",
            fatal=False,
        )

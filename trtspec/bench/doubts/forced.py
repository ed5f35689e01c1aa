"""Whether a setting decides how many draft tokens are accepted, right or wrong."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.bench.cells import Doubt
from trtspec.bench.metrics import ArmData
from trtspec.bench.result import Plan
from trtspec.forced_acceptance import Forced, forced_settings, forced_variables


def forced_doubts(plan: Plan, on: ArmData, off: ArmData) -> Iterator[Doubt]:
    """Look at the environment, and at what the engines say of themselves."""
    for forced in forced_variables(plan.conditions.environment):
        yield _doubt(f"${forced.switch.name}", forced)
    for arm in plan.arms:
        if arm.name in (on.arm, off.arm):
            for forced in forced_settings(arm.engine):
                yield _doubt(f"{forced.switch.name} of arm {arm.name}", forced)


def _doubt(where: str, forced: Forced) -> Doubt:
    return Doubt(
        id="forced-acceptance",
        what=f"{where}: {forced}; the text is meaningless then, and so is its speed",
        fatal=True,
    )

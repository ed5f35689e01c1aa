"""Whether an arm was still warming up when it was first counted."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from trtspec.bench.cells import Doubt
from trtspec.bench.metrics import ArmData
from trtspec.bench.result import Plan

COLD = 0.8
"""First block's throughput / median of the others: below, it paid something once."""

WARM = 0.9
"""The other arm's, if it is not cold itself."""

FEWEST = 3
"""Blocks, so that the others have a median."""


def block_doubts(plan: Plan, on: ArmData, off: ArmData) -> Iterator[Doubt]:
    """Look for a slow first block in one arm only, such as by compiling."""
    shares = {arm.arm: _first_share(arm) for arm in (on, off)}
    for arm, other in ((on.arm, off.arm), (off.arm, on.arm)):
        ours, theirs = shares[arm], shares[other]
        if ours is not None and theirs is not None and ours < COLD and theirs > WARM:
            yield Doubt(
                id="cold-first-block",
                what=f"arm {arm} had {ours:.0%} of its later throughput in the first "
                f"counted block, arm {other} {theirs:.0%}: the first was not warm, and "
                "what it paid once is counted as a difference",
                fatal=False,
            )


def _first_share(arm: ArmData) -> float | None:
    rates = {b.block: b.output_tokens / b.wall_seconds for b in arm.blocks}
    if len(rates) < FEWEST or 1 not in rates:
        return None
    return rates[1] / median(rate for block, rate in rates.items() if block != 1)

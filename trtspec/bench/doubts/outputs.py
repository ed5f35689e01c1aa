"""Whether both arms answered alike, as greedy arms of one target model do."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.bench.cells import Doubt
from trtspec.bench.metrics import ArmData
from trtspec.bench.outputs import compare_outputs
from trtspec.bench.result import Plan

EARLY = 16
"""Tokens. In reduced precision one token in a hundred may be a near tie and fall the
other way: then one answer in seven has parted by here, and most never do so early."""

EARLY_TEXT = 64
"""The same in characters, where a server gives no ids."""

MOST = 0.5
"""Share of the prompts. Beyond, near ties do not explain it."""


def output_doubts(plan: Plan, on: ArmData, off: ArmData) -> Iterator[Doubt]:
    """Look how early the answers of block 1 part; sampled and lossy arms may.

    A baseline that does not repeat itself says nothing about another arm. What a
    difference means, trtspec verify tells; so it is told, and takes no claim away.
    """
    if not plan.settings.greedy or any(s.lossy for s in on.samples):
        return
    found = compare_outputs(
        [*off.samples, *on.samples], off.arm, on.arm, greedy=plan.settings.greedy
    )
    text = found.by == "text"
    limit = EARLY_TEXT if text else EARLY
    early = sum(d.position < limit for d in found.differences)
    if early <= MOST * found.prompts or found.off_repeats <= MOST * found.prompts:
        return
    yield Doubt(
        id="different-outputs",
        what=f"{early} of {found.prompts} greedy answers of arm {on.arm} part from "
        f"those of arm {off.arm} within the first {limit} "
        f"{'characters' if text else 'tokens'}: near ties do not do that to most "
        "answers, another model, template or parser, or a fault does; trtspec verify "
        "tells which",
        fatal=False,
    )

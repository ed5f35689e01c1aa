"""Whether acceptance is what a drafter could have, and whether it lasted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

from trtspec.bench.cells import Doubt
from trtspec.bench.metrics import ArmData
from trtspec.bench.records import Sample
from trtspec.bench.result import Plan
from trtspec.run import DraftStep

ENOUGH_STEPS = 200
"""Verification steps with a draft. A drafter that is right in 98 of 100 steps would
still have 200 right ones in a row in 2 % of runs; below, a short easy set may do it."""

PINNED = 0.999
"""Share of steps that are alike; the rest leaves room for a step cut at the end."""

CHANGED = 0.15
"""Relative difference of the acceptance length between blocks. The blocks repeat the
same requests, so it comes from the engine, not from the text."""

STEPS_OF_A_BLOCK = 100
"""Fewest steps of a block whose acceptance length is compared."""

GONE = 0.25
"""Share of the prompts that had drafts and, later on, have none."""

FEWEST_GONE = 3


def acceptance_doubts(plan: Plan, on: ArmData, off: ArmData) -> Iterator[Doubt]:
    """Look at the compared arm's drafting, step by step where the engine tells it."""
    if not on.samples or any(s.drafted is None for s in on.samples):
        return
    if not sum(s.drafted or 0 for s in on.samples):
        yield from _never_drafted(plan, on)
        return
    yield from _pinned(on)
    yield from _nothing_accepted(on, off)
    if gone := _stopped(on):
        yield gone
    else:
        yield from _changed(on)


def _never_drafted(plan: Plan, on: ArmData) -> Iterator[Doubt]:
    arm = next((a for a in plan.arms if a.name == on.arm), None)
    method = arm.speculation.get("method") if arm else None
    if arm is None or arm.role != "candidate" or method in (None, "none"):
        return
    yield Doubt(
        id="nothing-drafted",
        what=f"arm {on.arm} drafted nothing although its method is {method}: its "
        "schedule says so under this load, its gate was closed before, or the drafter "
        "finds nothing",
        fatal=False,
    )


def _pinned(on: ArmData) -> Iterator[Doubt]:
    """Every step accepts the same, or all of its draft: that is no drafter's doing."""
    steps = [step for s in on.samples for step in _whole_steps(s)]
    if len(steps) < ENOUGH_STEPS:
        yield from _pinned_sums(on, told=bool(steps))
        return
    full = sum(step.accepted >= step.depth for step in steps)
    if full >= PINNED * len(steps):
        yield _ceiling(f"all {len(steps)} drafts were accepted whole")
        return
    (accepted, count), *_ = Counter(step.accepted for step in steps).most_common(1)
    if accepted and count >= PINNED * len(steps):
        yield Doubt(
            id="acceptance-pinned",
            what=f"each of {len(steps)} steps accepted {accepted} draft tokens, never "
            "more or less: acceptance is set by something other than the text",
            fatal=True,
        )


def _pinned_sums(on: ArmData, *, told: bool) -> Iterator[Doubt]:
    """The same from sums over requests, where single steps are not told."""
    steps = sum(s.steps or 0 for s in on.samples if s.drafted)
    drafted = sum(s.drafted or 0 for s in on.samples)
    accepted = sum(s.accepted or 0 for s in on.samples)
    if not told and steps >= ENOUGH_STEPS and accepted >= PINNED * drafted:
        yield _ceiling(f"{accepted} of {drafted} draft tokens were accepted")


def _ceiling(seen: str) -> Doubt:
    return Doubt(
        id="acceptance-pinned",
        what=f"acceptance is at its ceiling: {seen}; acceptance is forced, or the "
        "drafter is the target itself",
        fatal=True,
    )


def _whole_steps(sample: Sample) -> Sequence[DraftStep]:
    """Steps with a draft, but for the last of a request, which its end may have cut."""
    return [step for step in (sample.draft_steps or ())[:-1] if step.depth]


def _nothing_accepted(on: ArmData, off: ArmData) -> Iterator[Doubt]:
    steps = sum(s.steps or 0 for s in on.samples)
    if steps < ENOUGH_STEPS or any(
        s.accepted is None or s.accepted for s in on.samples
    ):
        return
    gain = _throughput(on) > _throughput(off)
    what = (
        f"arm {on.arm}: no draft token was accepted in {steps} steps: speculation does "
        "nothing; look at the kind of the head, at cache reuse and at the draft's "
        f"precision first{', and a gain is not its own' if gain else ''}"
    )
    yield Doubt(id="nothing-accepted", what=what, fatal=gain)


def _throughput(arm: ArmData) -> float:
    return (
        median(b.output_tokens / b.wall_seconds for b in arm.blocks)
        if arm.blocks
        else 0
    )


def _stopped(on: ArmData) -> Doubt | None:
    """Prompts that were drafted for in an earlier block and are not in the last one.

    TensorRT-LLM's gate (SpeculationGate in tensorrt_llm/_torch/speculative/
    speculation_gate.py) switches drafting off for good once acceptance is low.
    """
    last = max(s.block for s in on.samples)
    before = {s.prompt_id for s in on.samples if s.drafted and s.block < last}
    after = {s.prompt_id for s in on.samples if s.drafted and s.block == last}
    gone = before - after
    if len(gone) < FEWEST_GONE or len(gone) < GONE * len(before | after):
        return None
    return Doubt(
        id="drafting-stopped",
        what=f"arm {on.arm} no longer drafts for {len(gone)} of {len(before | after)} "
        f"prompts in block {last} as it did before: a gate or schedule has switched "
        "speculation off, and the numbers mix both states",
        fatal=False,
    )


def _changed(on: ArmData) -> Iterator[Doubt]:
    by_block: dict[int, list[Sample]] = defaultdict(list)
    for sample in on.samples:
        by_block[sample.block].append(sample)
    lengths = {
        block: 1 + sum(s.accepted or 0 for s in group) / steps
        for block, group in by_block.items()
        if (steps := sum(s.steps or 0 for s in group)) >= STEPS_OF_A_BLOCK
    }
    if len(lengths) < 2:
        return
    low, high = (
        min(lengths, key=lengths.__getitem__),
        max(lengths, key=lengths.__getitem__),
    )
    if lengths[high] - lengths[low] > CHANGED * lengths[low]:
        yield Doubt(
            id="acceptance-changed",
            what=f"arm {on.arm}: the acceptance length is {lengths[high]:.2f} in block "
            f"{high} and {lengths[low]:.2f} in block {low}, over the same prompts",
            fatal=False,
        )

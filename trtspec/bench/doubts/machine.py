"""Whether the machine was the same for both arms, and had room."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from trtspec.bench.cells import Doubt
from trtspec.bench.metrics import ArmData
from trtspec.bench.result import Plan

CLOCKS = 0.03
"""Relative difference of the highest SM clock, median over blocks. A boost step of
an NVIDIA GPU is 15 MHz, under 1 %; 3 % is a tenth of most gains of speculation."""

GPU_FULL = 0.98
"""Share of a GPU's memory. TensorRT-LLM takes most of what is free for its KV cache by
design, so only the very end is remarkable."""

FULL = 0.95
"""Share of the machine's memory: beyond, pages are written out."""

_GIB = 1 << 30


def machine_doubts(plan: Plan, on: ArmData, off: ArmData) -> Iterator[Doubt]:
    """Compare clocks and throttling of the arms, and memory with what there is."""
    yield from _throttled(on, off)
    yield from _clocks(on, off)
    yield from _memory(plan, on, off)


def _throttled(on: ArmData, off: ArmData) -> Iterator[Doubt]:
    ours, theirs = _reasons(on), _reasons(off)
    if ours is None or theirs is None:
        return
    for arm, only in ((on.arm, ours - theirs), (off.arm, theirs - ours)):
        if only:
            yield Doubt(
                id="throttled",
                what=f"GPU clocks were held down in arm {arm} only: "
                f"{', '.join(sorted(only))}",
                fatal=False,
            )


def _reasons(arm: ArmData) -> set[str] | None:
    """Give why clocks were held down in any block; None if nothing was read."""
    told = [b.resources.gpu_throttled for b in arm.blocks]
    known = [gpus for gpus in told if gpus is not None]
    if not known:
        return None
    return {reason for gpus in known for gpu in gpus for reason in gpu}


def _clocks(on: ArmData, off: ArmData) -> Iterator[Doubt]:
    for gpu, (ours, theirs) in enumerate(
        zip(_highest(on), _highest(off), strict=False)
    ):
        if max(ours, theirs) > (1 + CLOCKS) * min(ours, theirs):
            yield Doubt(
                id="different-clocks",
                what=f"GPU {gpu}: {ours:.0f} MHz in arm {on.arm} and {theirs:.0f} "
                f"MHz in arm {off.arm}: {abs(ours / theirs - 1):.0%} apart",
                fatal=False,
            )


def _highest(arm: ArmData) -> list[float]:
    """Give each GPU's highest clock, median over the blocks that tell it."""
    told = [b.resources.gpu_clock_mhz for b in arm.blocks]
    known = [clocks for clocks in told if clocks]
    count = min((len(clocks) for clocks in known), default=0)
    return [median(clocks[gpu][1] for clocks in known) for gpu in range(count)]


def _memory(plan: Plan, on: ArmData, off: ArmData) -> Iterator[Doubt]:
    hardware = plan.conditions.hardware
    blocks = [*on.blocks, *off.blocks]
    used = max((b.resources.memory_bytes or 0 for b in blocks), default=0)
    if used > FULL * hardware.memory_bytes:
        yield _full("the machine's memory", used, hardware.memory_bytes)
    for gpu, board in enumerate(hardware.gpus):
        used = max(
            (_of_gpu(b.resources.gpu_memory_bytes, gpu) for b in blocks), default=0
        )
        if used > GPU_FULL * board.memory_bytes:
            yield _full(f"the memory of GPU {gpu}", used, board.memory_bytes)


def _of_gpu(told: tuple[int, ...] | None, gpu: int) -> int:
    return told[gpu] if told and gpu < len(told) else 0


def _full(what: str, used: int, there: int) -> Doubt:
    return Doubt(
        id="memory-full",
        what=f"{what} was full: {used / _GIB:.1f} of {there / _GIB:.1f} GiB; requests "
        "may have waited or been recomputed",
        fatal=False,
    )

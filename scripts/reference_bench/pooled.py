"""How a run that was measured by category is put together again: one load of all."""

from __future__ import annotations

from collections.abc import Sequence

from trtspec.bench.cells import Cell
from trtspec.bench.records import Block, Failure, Load, Sample, StepTimes
from trtspec.bench.result import Plan
from trtspec.bench.summary import Raw, summarize


def pooled(plan: Plan, raw: Raw) -> list[Cell]:
    """Give a cell per concurrency, over the prompts of all categories.

    Blocks of one round are put one after the other, as if the categories had been one
    load; so a category weighs as much as the time it takes.
    """
    cells: list[Cell] = []
    for concurrency in dict.fromkeys(load.concurrency for load in plan.settings.loads):
        parts = [x for x in plan.settings.loads if x.concurrency == concurrency]
        whole = Load(concurrency=concurrency)
        settings = plan.settings.model_copy(update={"loads": (whole,)})
        together = plan.model_copy(update={"settings": settings})
        cells += summarize(together, _joined(whole, parts, raw))
    return cells


def _joined(whole: Load, parts: Sequence[Load], raw: Raw) -> Raw:
    blocks: dict[tuple[str, int], Block] = {}
    samples: list[Sample] = []
    failures: list[Failure] = []
    for part in parts:
        of_part = raw.under(part)
        failures += of_part.failures
        for block in (b for b in of_part.blocks if not b.warm_up):
            place = (block.arm, block.block)
            before = blocks.get(place)
            offset = before.wall_seconds if before else 0.0
            here = block.model_copy(update={"load": whole.key})
            blocks[place] = _added(before, here) if before else here
            samples += [
                _moved(s, whole, offset)
                for s in of_part.samples
                if (s.arm, s.block) == place
            ]
    return Raw(
        list(blocks.values()),
        samples,
        [f.model_copy(update={"load": whole.key}) for f in failures],
    )


def _moved(sample: Sample, whole: Load, offset: float) -> Sample:
    """Move a request to where its block begins in the joined one."""
    return sample.model_copy(
        update={"submitted": sample.submitted + offset, "load": whole.key}
    )


def _added(first: Block, second: Block) -> Block:
    return first.model_copy(
        update={
            "wall_seconds": first.wall_seconds + second.wall_seconds,
            "requests": first.requests + second.requests,
            "output_tokens": first.output_tokens + second.output_tokens,
            "prefill": _added_times(first.prefill, second.prefill),
            "decode": _added_times(first.decode, second.decode),
        }
    )


def _added_times(first: StepTimes | None, second: StepTimes | None) -> StepTimes | None:
    if first is None or second is None:
        return None
    other = second.model_dump()
    return StepTimes(**{k: v + other[k] for k, v in first.model_dump().items()})

"""Comparisons to doubt: two arms of plain blocks and samples, changed as needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.bench.fakes import block, plan, sample
from trtspec.bench.cells import Doubt
from trtspec.bench.doubts import doubts_of
from trtspec.bench.metrics import ArmData
from trtspec.bench.records import Block, Sample
from trtspec.bench.result import Plan
from trtspec.run import DraftStep

BLOCKS, PROMPTS = 3, 8

Change = Callable[[int, int], dict[str, object]]
"""From number of block and prompt, from 1 and 0, to what is changed in the record."""


def nothing(block: int, prompt: int) -> dict[str, object]:
    return {}


def arm(
    name: str,
    of_sample: Change = nothing,
    of_block: Change = nothing,
    prompts: int = PROMPTS,
) -> ArmData:
    """An arm with 3 blocks over 8 prompts; what it says differs by prompt."""
    blocks = tuple(_block(name, b, of_block(b, 0)) for b in range(1, BLOCKS + 1))
    samples = tuple(
        _sample(name, b, p, of_sample(b, p))
        for b in range(1, BLOCKS + 1)
        for p in range(prompts)
    )
    return ArmData(name, blocks, samples)


def _block(name: str, number: int, changes: dict[str, object]) -> Block:
    values = {"arm": name, "block": number, "output_tokens": 1000, **changes}
    return block(**values)


def _sample(name: str, number: int, prompt: int, changes: dict[str, object]) -> Sample:
    values = {
        "arm": name,
        "block": number,
        "prompt_id": f"p{prompt}",
        "tokens": text_like(prompt) if number == 1 else None,
        **changes,
    }
    return sample(**values)


def text_like(seed: int, length: int = 96) -> tuple[int, ...]:
    """Token ids without a short cycle."""
    return tuple((seed + 7 * i * i + 3 * i) % 1009 for i in range(length))


def steps(*accepted: int, depth: int = 4) -> dict[str, object]:
    """What a sample says of steps that each offered a chain of ``depth``."""
    drafted = depth * len(accepted)
    return {
        "steps": len(accepted),
        "drafted": drafted,
        "accepted": sum(accepted),
        "draft_steps": [DraftStep(depth, depth, a) for a in accepted],
    }


def varied(block: int, prompt: int) -> dict[str, object]:
    """Acceptance as a drafter has it: another in each step, the same in each block."""
    return steps(*((prompt + 3 * i) % 5 for i in range(20)))


def found(
    on: ArmData, off: ArmData | None = None, of: Plan | None = None
) -> dict[str, Doubt]:
    """The doubts by id."""
    doubts: Sequence[Doubt] = doubts_of(of or plan(PROMPTS), on, off or arm("off"))
    return {doubt.id: doubt for doubt in doubts}

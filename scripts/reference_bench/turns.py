"""How all methods are measured in one run: the same prompts, turn by turn.

A block is one pass of one method over the prompts of one category. Methods take turns
category by category, in an order that changes from round to round, so that whatever
else the machine does hits all of them alike.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import NamedTuple

from reference_bench.openings import OFF, Load, Opened
from trtspec.bench.collect import BenchPrompt, Place, block_record, sample_records
from trtspec.bench.load import closed_loop
from trtspec.bench.records import WARM_UP_BLOCK, Arm, Block, Sample, StepTimes
from trtspec.errors import RunError
from trtspec.run import Request

WARM_UP_TOKENS = 16

Key = tuple[int, str, str]
"""Batch, category, method."""


class Turn(NamedTuple):
    """Where in the measurement a block belongs; repeat 0 is the warm-up."""

    batch: int
    category: str
    repeat: int


@dataclass
class Raw:
    """Everything that was recorded, by batch, category and method.

    :param failures: why a method has no numbers, by batch and method.
    """

    blocks: dict[Key, list[Block]] = field(default_factory=dict)
    samples: dict[Key, list[Sample]] = field(default_factory=dict)
    failures: dict[tuple[int, str], str] = field(default_factory=dict)


def measure_methods(
    methods: Sequence[Opened],
    load: Load,
    batches: Sequence[int],
    repeats: int,
    log: Callable[[str], None],
) -> Raw:
    """Measure every method at every batch size.

    A method that fails is left out from there on.

    :param batches: requests kept in flight.
    :raises RunError: if the off arm fails: there is nothing to compare with then.
    """
    raw = Raw()
    for batch in batches:
        for repeat in range(WARM_UP_BLOCK, repeats + 1):
            for category, prompts in _categories(load, repeat):
                for method in _turns(methods, repeat, category):
                    if (batch, method.name) not in raw.failures:
                        turn = Turn(batch, category, repeat)
                        _run_block(raw, method, turn, prompts, load.output_tokens)
                log(_news(raw, batch, category, repeat))
    return raw


def _categories(
    load: Load, repeat: int
) -> Iterator[tuple[str, tuple[BenchPrompt, ...]]]:
    """Give all categories; for the warm-up only the first one."""
    groups = list(load.prompts.items())
    yield from groups[:1] if repeat == WARM_UP_BLOCK else groups


def _turns(methods: Sequence[Opened], repeat: int, category: str) -> list[Opened]:
    """Shuffle the order anew for every round, by its own seed."""
    order = list(methods)
    random.Random(f"{repeat} {category}").shuffle(order)
    return order


def _run_block(
    raw: Raw,
    method: Opened,
    turn: Turn,
    prompts: Sequence[BenchPrompt],
    tokens: int,
) -> None:
    batch, category, repeat = turn
    place = (batch, category, method.name)
    warm_up = repeat == WARM_UP_BLOCK
    if warm_up:
        prompts, tokens = prompts[:batch], min(tokens, WARM_UP_TOKENS)
    arm: Arm = "off" if method.name == OFF else "on"
    requests = [Request(p.id, p.tokens, tokens, speculate=arm == "on") for p in prompts]
    gc.collect()  # so that no block pays for the garbage of the one before
    started = datetime.now(timezone.utc)
    try:
        result = closed_loop(method.runner, requests, batch)
    except RunError as error:
        if method.name == OFF:
            raise
        raw.failures[batch, method.name] = " ".join(str(error).split())
        return
    order = sum(map(len, raw.blocks.values()))
    where = Place(arm, repeat, batch)
    block = block_record(where, result, order=order, started=started)
    raw.blocks.setdefault(place, []).append(block)
    if not warm_up:
        raw.samples.setdefault(place, []).extend(sample_records(where, prompts, result))


def _news(raw: Raw, batch: int, category: str, repeat: int) -> str:
    rates = {
        name: block.output_tokens / block.wall_seconds
        for (size, kind, name), blocks in raw.blocks.items()
        for block in blocks[-1:]
        if (size, kind) == (batch, category)
    }
    shown = ", ".join(f"{name} {rate:.0f}" for name, rate in rates.items())
    turn = "warm-up" if repeat == WARM_UP_BLOCK else f"repeat {repeat}"
    return f"batch {batch}, {turn}, {category}: tokens/s {shown}"


def all_categories(
    raw: Raw, batch: int, method: str
) -> tuple[list[Block], list[Sample]]:
    """Put a method's blocks of one repeat together, one after the other."""
    places = [p for p in raw.blocks if p[0] == batch and p[2] == method]
    merged: dict[int, Block] = {}
    samples: list[Sample] = []
    for place in places:
        for block in raw.blocks[place]:
            if block.warm_up:
                continue
            before = merged.get(block.block)
            offset = before.wall_seconds if before else 0.0
            merged[block.block] = _joined(before, block) if before else block
            samples += [
                _moved(s, offset) for s in raw.samples[place] if s.block == block.block
            ]
    return list(merged.values()), samples


def _moved(sample: Sample, offset: float) -> Sample:
    """Move a request to where its block begins in the joined one."""
    return sample.model_copy(update={"submitted": sample.submitted + offset})


def _joined(first: Block, second: Block) -> Block:
    return first.model_copy(
        update={
            "wall_seconds": first.wall_seconds + second.wall_seconds,
            "requests": first.requests + second.requests,
            "output_tokens": first.output_tokens + second.output_tokens,
            "prefill": _added(first.prefill, second.prefill),
            "decode": _added(first.decode, second.decode),
        }
    )


def _added(first: StepTimes, second: StepTimes) -> StepTimes:
    other = second.model_dump()
    return StepTimes(**{k: v + other[k] for k, v in first.model_dump().items()})

"""How the two arms are paired: the same prompts, in interleaved blocks."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timezone

from trtspec.bench.collect import BenchPrompt, Place, block_record, sample_records
from trtspec.bench.load import Clock, closed_loop
from trtspec.bench.progress import Watcher
from trtspec.bench.records import (
    ARMS,
    WARM_UP_BLOCK,
    Arm,
    Block,
    Sample,
    warm_up_prompts,
)
from trtspec.run import Request, Runner, SamplingParams


@dataclass(frozen=True, slots=True)
class CellPlan:
    """One concurrency to measure.

    :param repeats: counted blocks per arm; one warm-up block per arm comes on top.
    :param prompts_cached: whether the runner finds earlier prompts in its KV cache.
    :param sampling: for the first prompt; each further one has the next seed, the
        same in both arms and in every block.
    """

    prompts: tuple[BenchPrompt, ...]
    concurrency: int
    repeats: int
    output_tokens: int
    sampling: SamplingParams
    prompts_cached: bool = False


def block_order(repeats: int) -> Iterator[tuple[Arm, int]]:
    """Give arm and number of each block: off on | on off | off on ...

    The first pair is the warm-up (block 0). The order flips from pair to pair, so
    that neither arm always comes first.
    """
    for block in range(WARM_UP_BLOCK, repeats + 1):
        flipped = block != WARM_UP_BLOCK and block % 2 == 0
        for arm in reversed(ARMS) if flipped else ARMS:
            yield arm, block


def run_cell(
    runner: Runner,
    plan: CellPlan,
    watcher: Watcher,
    *,
    clock: Clock = time.perf_counter,
) -> tuple[list[Block], list[Sample]]:
    """Measure both arms at one concurrency.

    :return: all blocks, warm-up included, in the order they ran, and the samples of
        the counted blocks.
    :raises RunError: naming the request, if any request fails.
    """
    blocks: list[Block] = []
    samples: list[Sample] = []
    for order, (arm, number) in enumerate(block_order(plan.repeats)):
        watcher.block_started(arm, number, plan.concurrency)
        requests = _requests(plan, arm, number)
        gc.collect()  # so that no block pays for the garbage of the one before
        started = datetime.now(timezone.utc)
        result = closed_loop(
            runner,
            requests,
            plan.concurrency,
            clock=clock,
            on_completion=watcher.request_finished,
        )
        place = Place(arm, number, plan.concurrency)
        block = block_record(place, result, order=order, started=started)
        blocks.append(block)
        if not block.warm_up:
            samples.extend(sample_records(place, plan.prompts, result))
        watcher.block_finished(block)
    return blocks, samples


def _requests(plan: CellPlan, arm: Arm, number: int) -> list[Request]:
    prompts = plan.prompts
    if number == WARM_UP_BLOCK:
        count = warm_up_prompts(
            plan.concurrency, len(prompts), cached=plan.prompts_cached
        )
        prompts = prompts[:count]
    return [
        Request(
            id=f"{prompt.id}/c{plan.concurrency}/{arm}{number}",
            prompt=prompt.tokens,
            max_new_tokens=plan.output_tokens,
            sampling=replace(plan.sampling, seed=plan.sampling.seed + index),
            speculate=arm == "on",
        )
        for index, prompt in enumerate(prompts)
    ]

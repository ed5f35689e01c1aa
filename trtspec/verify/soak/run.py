"""Does an engine hold out: a load that goes up, down and anyhow, for a given time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from functools import partial

from trtspec.errors import UsageError
from trtspec.methods import Method
from trtspec.run import Runner
from trtspec.verify.soak.drive import Driver, Prompt
from trtspec.verify.soak.leaks import (
    Memory,
    look_at_memory,
    look_at_slots,
    memory_now,
)
from trtspec.verify.soak.levels import levels_of
from trtspec.verify.soak.mix import Mix
from trtspec.verify.soak.pace import compare
from trtspec.verify.soak.ramp import pace_at, ramp, riders
from trtspec.verify.soak.record import Check, Level, SoakResult, folded

SEGMENTS = 6
"""Parts of the mix; between them nothing runs, and memory is read."""
LEAST = 8
"""Requests of a segment, however little time there is."""
TOKENS = 32

Clock = Callable[[], float]


def run_soak(
    runner: Runner,
    method: Method,
    prompts: Sequence[Prompt],
    *,
    seconds: float,
    seed: int = 0,
    tokens: int = TOKENS,
    clock: Clock = time.monotonic,
    memory: Memory = memory_now,
) -> SoakResult:
    """Load a runner for a while.

    First every rung up and down, then riders through a burst; the rest of the time is
    a random mix; at its end the quiet load of the beginning once more.

    :param method: what the runner drafts with; its draft length says where rungs are.
    :param prompts: token ids; those that leave no room for an answer are left out.
    :param seconds: in all; the ramp is finished even if it takes longer.
    :param tokens: of an answer.
    :raises UsageError: if no prompt fits.
    :raises RunError: if the engine fails or loses a request.
    """
    began = clock()
    fitting = [p for p in prompts if _fits(p, runner, tokens)]
    if not fitting:
        raise UsageError(
            f"no prompt leaves room for {tokens} tokens",
            allowed=f"prompts up to {runner.max_total_tokens - tokens} tokens",
        )
    driver = Driver(runner)
    readings = [memory()]
    levels = levels_of(method, runner.max_running)
    found, checks = ramp(driver, fitting, tokens, method, levels)
    longest = max(map(len, fitting))
    checks.append(
        riders(driver, fitting, runner.max_total_tokens - longest, tokens, method)
    )
    readings.append(memory())
    mix = Mix(driver, fitting, tokens, random.Random(seed))
    _segments(mix, began + seconds, clock, lambda: readings.append(memory()))
    checks += _afterwards(driver, fitting, tokens, found[0])
    checks += [mix.check(), look_at_slots(driver, fitting), look_at_memory(readings)]
    verdict, reasons = folded(checks)
    return SoakResult(
        verdict=verdict,
        reasons=reasons,
        checks=tuple(checks),
        levels=found,
        requests=mix.record(),
        memory_mib=tuple(readings),
        seed=seed,
        seconds=clock() - began,
    )


def _fits(prompt: Prompt, runner: Runner, tokens: int) -> bool:
    room = min(runner.max_input_tokens, runner.max_total_tokens - tokens)
    return 0 < len(prompt) <= room


def _segments(
    mix: Mix, deadline: float, clock: Clock, between: Callable[[], object]
) -> None:
    """Share the time that is left among the segments."""
    began = clock()
    part = max(0.0, deadline - began) / SEGMENTS
    for number in range(1, SEGMENTS + 1):
        mix.segment(partial(_is_over, clock, began + number * part), LEAST)
        between()


def _is_over(clock: Clock, ends: float) -> bool:
    return clock() >= ends


def _afterwards(
    driver: Driver, prompts: Sequence[Prompt], tokens: int, first: Level
) -> list[Check]:
    """Compare the quiet load with that of the beginning."""
    now = pace_at(driver, prompts, tokens, 1)
    where = "one in flight after the mix"
    return [compare("recovery", where, first.up, now, first.draft_length)]

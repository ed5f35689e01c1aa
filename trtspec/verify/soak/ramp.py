"""Does acceptance come back when the load goes up every rung and down again.

Two things can go wrong. A request that begins after a burst may find a drafter in a
bad state; and one that runs through the burst may keep one: at draft length 0 the state
of TensorRT-LLM's one-model drafters goes stale (pull request 16888 of
NVIDIA/TensorRT-LLM). The first is seen at each level, up against down; the second on
riders, which run through a burst, and once more without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice

from trtspec.methods import Method
from trtspec.verify.soak.drive import Driver, Prompt, Seen
from trtspec.verify.soak.pace import compare, pace_of
from trtspec.verify.soak.record import Check, Level, Pace

MOST_RIDERS = 4
_QUIET = 3
"""Parts of a rider's output: one before the burst, the rest behind it."""


def _inner(seen: Sequence[Seen]) -> list[int]:
    return [count for one in seen for count in one.inner]


def pace_at(driver: Driver, prompts: Sequence[Prompt], tokens: int, level: int) -> Pace:
    """Keep so many requests in flight; each slot is taken at least once."""
    asked = list(islice(cycle(prompts), max(level, len(prompts))))
    return pace_of(_inner(driver.keep(asked, tokens, level)))


def ramp(
    driver: Driver,
    prompts: Sequence[Prompt],
    tokens: int,
    method: Method,
    levels: Sequence[int],
) -> tuple[tuple[Level, ...], list[Check]]:
    """Go up all levels and down again, with the same prompts at each."""
    up = [pace_at(driver, prompts, tokens, level) for level in levels]
    down = [pace_at(driver, prompts, tokens, level) for level in reversed(levels[:-1])]
    back: list[Pace | None] = [*reversed(down), None]
    found, checks = [], []
    for level, one, other in zip(levels, up, back, strict=True):
        length = method.draft_length_at(level)
        found.append(Level(in_flight=level, draft_length=length, up=one, down=other))
        if other is not None:
            checks.append(compare("ramp", f"{level} in flight", one, other, length))
    return tuple(found), checks


def riders(
    driver: Driver,
    prompts: Sequence[Prompt],
    tokens: int,
    short: int,
    method: Method,
) -> Check:
    """Let a few long requests run through a burst, and once more without one.

    :param tokens: of the riders' output, as many as are allowed.
    :param short: of the output of the requests of the burst.
    """
    most = driver.runner.max_running
    count = max(1, min(MOST_RIDERS, most // 4, len(prompts)))
    if most < 2:
        what = "one request runs at a time: none can run through a burst"
        return Check(name="riders", verdict="pass", what=what)
    chosen = prompts[:count]
    ridden = [driver.submit(prompt, tokens) for prompt in chosen]
    driver.until(lambda: min(r.emitted for r in ridden) >= tokens // _QUIET)
    _burst(driver, ridden, list(islice(cycle(prompts), most - count)), short)
    marks = [len(rider.chunks) for rider in ridden]
    places = [rider.emitted for rider in ridden]
    driver.drain()
    after = [
        n for r, mark in zip(ridden, marks, strict=True) for n in r.chunks[mark:-1]
    ]
    alone = driver.keep(chosen, tokens, count)
    before = [n for r, p in zip(alone, places, strict=True) for n in _behind(r, p)]
    where = f"{count} requests that ran through a burst of {most}"
    drafted = method.draft_length_at(count)
    return compare("riders", where, pace_of(before), pace_of(after), drafted)


def _burst(
    driver: Driver, ridden: Sequence[Seen], prompts: Sequence[Prompt], short: int
) -> None:
    """Fill the engine beside the riders, and wait until they are alone again."""
    others = [driver.submit(prompt, short) for prompt in prompts]
    driver.until(lambda: all(o.completion for o in others))


def _behind(rider: Seen, place: int) -> list[int]:
    """Tokens of the steps that begin behind a place of the output."""
    emitted, found = 0, []
    for count in rider.chunks[:-1]:
        if emitted >= place:
            found.append(count)
        emitted += count
    return found

"""Does a server hold out: the soak of ``run``, with requests over HTTP.

What a runner in this process shows by itself a server has to tell: tokens per chunk or
verification steps for its acceptance, gauges for its slots, a process for its memory.
What it does not tell is said not to have been looked at.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, islice

from trtspec.bench.http.transport import open_transport
from trtspec.verify.arm import Question
from trtspec.verify.arms.http import HttpArm, body_of
from trtspec.verify.soak.gauges import Gauges, Read, read_gauges
from trtspec.verify.soak.leaks import Memory, look_at_memory
from trtspec.verify.soak.pace import compare, pace_of
from trtspec.verify.soak.record import (
    Check,
    CheckName,
    Level,
    Pace,
    SoakResult,
    folded,
)
from trtspec.verify.soak.run import LEAST, SEGMENTS, TOKENS, Clock
from trtspec.verify.soak.server import (
    RefusedError,
    Seen,
    ServerDriver,
    drafted_in,
    pace_in,
)
from trtspec.verify.soak.server_mix import PATIENCE, ServerMix

LEVELS = (1, 4, 8)
"""Requests in flight, where nobody says which rungs a server has."""
MOST_RIDERS = 4
RIDE = 6
"""Times as many tokens as other answers: one part before the burst, the rest behind."""
SETTLE = 10.0
"""Seconds in which a server may notice that its clients have gone."""
POLL = 0.05
ENOUGH_POLLS = 10
CACHE_GROWN = 0.05
"""Part of the KV cache that may stay in use at rest beyond what did at first."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What was seen with so many requests in flight.

    :param running: how many ran, as the server's gauge had it time and again.
    :param drafted: draft tokens; None if the server does not tell.
    """

    pace: Pace
    running: Sequence[float]
    drafted: int | None

    def back(self, name: CheckName, where: str, now: Stage) -> Check:
        """Compare with the same load later on; where nothing is drafted, nothing."""
        nothing = self.drafted == now.drafted == 0
        return compare(name, where, self.pace, now.pace, 0 if nothing else None)


@dataclass(slots=True)
class ServerSoak:
    """One soak of one server.

    :param levels: requests in flight, ascending.
    :param seconds: in all; the ramp is finished even if it takes longer.
    :param memory: of the server's process; None: not to be had.
    :param read: its gauges.
    :param patience: seconds after which a request counts as lost.
    """

    arm: HttpArm
    questions: Sequence[Question]
    levels: Sequence[int]
    seconds: float
    seed: int = 0
    tokens: int = TOKENS
    memory: Memory | None = None
    read: Read | None = None
    clock: Clock = time.monotonic
    patience: float = PATIENCE
    settle: float = SETTLE
    _quiet: list[Gauges] = field(default_factory=list)
    _held: list[float] = field(default_factory=list)

    def run(self) -> SoakResult:
        """Load the server for a while; see ``run_soak``.

        :raises RunError: if a request of the ramp fails.
        """
        extras = self.arm.extras  # tried before the loop: it sends requests of its own
        body = partial(body_of, server=self.arm.server, extras=extras)
        return asyncio.run(self._run(body))

    async def _run(self, body: Callable[[Question], bytes]) -> SoakResult:
        began = self.clock()
        address = self.arm.server.address
        url = address.endpoint(self.arm.server.api)
        async with open_transport(
            address, url, time.perf_counter, self.patience
        ) as post:
            driver = ServerDriver(post, body)
            await self._at_rest()
            found, checks, first, top = await self._ramp(driver)
            checks.append(await self._riders(driver))
            await self._at_rest()
            mix = ServerMix(
                driver,
                self.questions,
                self.tokens,
                max(self.levels),
                random.Random(self.seed),
                self.patience,
            )
            await self._segments(mix, began + self.seconds)
            now = await self._level(driver, self.levels[0])
            where = f"{self.levels[0]} in flight after the mix"
            checks.append(first.back("recovery", where, now))
            later = await self._level(driver, max(self.levels))
            await self._at_rest()
        checks.append(mix.check())
        if self._quiet[-1].names:
            checks.append(self._slots(top.running, later.running))
        if self._held:
            checks.append(look_at_memory(self._held))
        verdict, reasons = folded(checks)
        return SoakResult(
            verdict=verdict,
            reasons=reasons,
            checks=tuple(checks),
            levels=found,
            requests=mix.record(),
            memory_mib=tuple(self._held),
            over="HTTP",
            gauges=self._quiet[0].names,
            not_looked_at=self._not_looked_at(),
            seed=self.seed,
            seconds=self.clock() - began,
        )

    async def _ramp(
        self, driver: ServerDriver
    ) -> tuple[tuple[Level, ...], list[Check], Stage, Stage]:
        """Go up and down; gives also what was seen at the lowest and highest level."""
        up = [await self._level(driver, level) for level in self.levels]
        down = [
            await self._level(driver, level) for level in reversed(self.levels[:-1])
        ]
        back: list[Stage | None] = [*reversed(down), None]
        found, checks = [], []
        for level, one, other in zip(self.levels, up, back, strict=True):
            below = other.pace if other else None
            found.append(
                Level(in_flight=level, draft_length=None, up=one.pace, down=below)
            )
            if other is not None:
                checks.append(one.back("ramp", f"{level} in flight", other))
        return tuple(found), checks, up[0], up[-1]

    async def _level(self, driver: ServerDriver, level: int) -> Stage:
        """Keep so many requests in flight."""
        asked = list(islice(cycle(self.questions), max(level, len(self.questions))))
        running: list[float] = []
        watch = asyncio.ensure_future(self._watch(running))
        try:
            answers = await driver.keep(asked, self.tokens, level)
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)
        return Stage(pace_in(answers), running, drafted_in(answers))

    async def _watch(self, running: list[float]) -> None:
        while True:
            gauges = await self._read()
            if gauges.running is None:
                return
            running.append(gauges.running)
            await asyncio.sleep(POLL)

    async def _read(self) -> Gauges:
        read = self.read or partial(read_gauges, self.arm.server.address)
        return await asyncio.to_thread(read)

    async def _riders(self, driver: ServerDriver) -> Check:
        """Let a few long requests run through a burst, and before that without one."""
        most = max(self.levels)
        count = max(1, min(MOST_RIDERS, most // 4, len(self.questions)))
        chosen = self.questions[:count]
        tokens = await self._long(driver, chosen)
        started = time.perf_counter()
        alone = await driver.keep(chosen, tokens, count)
        took = time.perf_counter() - started
        ridden = [driver.begin(question, tokens) for question in chosen]
        await asyncio.sleep(took / RIDE)
        others = list(islice(cycle(self.questions), max(1, most - count)))
        await driver.keep(others, max(1, self.tokens // 4), len(others))
        mark = time.perf_counter()
        seen = await asyncio.gather(*ridden)
        where = f"{count} requests that ran through a burst of {most}"
        pairs = [
            _behind(one, other, mark) for one, other in zip(seen, alone, strict=True)
        ]
        if any(pair is None for pair in pairs):
            what = f"{where}: the server does not tell the tokens of each chunk"
            return Check(name="riders", verdict="cannot tell", what=what)
        known = [pair for pair in pairs if pair is not None]
        before = pace_of([n for _, same in known for n in same])
        after = pace_of([n for behind, _ in known for n in behind])
        return compare("riders", where, before, after)

    async def _long(self, driver: ServerDriver, chosen: Sequence[Question]) -> int:
        """Find how long an answer of a rider may be: a server refuses too much."""
        tokens = RIDE * self.tokens
        while tokens > self.tokens:
            try:
                for question in chosen:
                    await driver.one(question, tokens)
            except RefusedError:
                tokens = max(self.tokens, tokens // 2)
            else:
                break
        return tokens

    async def _segments(self, mix: ServerMix, deadline: float) -> None:
        began = self.clock()
        part = max(0.0, deadline - began) / SEGMENTS
        for number in range(1, SEGMENTS + 1):
            ends = began + number * part
            await mix.segment(partial(self._is_over, ends), LEAST)
            await self._at_rest()

    def _is_over(self, ends: float) -> bool:
        return self.clock() >= ends

    async def _at_rest(self) -> None:
        """Wait until nothing of ours runs any more, and read what the server holds."""
        until = self.clock() + self.settle
        gauges = await self._read()
        while gauges.busy and self.clock() < until:
            await asyncio.sleep(POLL)
            gauges = await self._read()
        import psutil

        self._quiet.append(gauges)
        if self.memory is not None:
            with suppress(psutil.Error):  # it has ended, or is not ours to see
                self._held.append(await asyncio.to_thread(self.memory))

    def _slots(self, before: Sequence[float], after: Sequence[float]) -> Check:
        """Fail if requests count as running that have gone, or fewer run at once."""
        if stuck := max(one.busy for one in self._quiet[1:]):
            what = (
                f"{stuck:g} requests still run or wait {self.settle:g} s after the "
                "last was answered or given up, or another client asks the server"
            )
            return Check(name="slots", verdict="fail", what=what)
        used = [one.cache for one in self._quiet if one.cache is not None]
        if used and used[-1] - used[0] > CACHE_GROWN:
            what = f"{used[-1]:.0%} of the KV cache is in use at rest"
            what += f", {used[0]:.0%} before"
            return Check(name="slots", verdict="fail", what=what)
        what = "nothing runs or waits at rest"
        if min(len(before), len(after)) < ENOUGH_POLLS:
            return Check(name="slots", verdict="pass", what=what)
        most, later = max(before), max(after)
        what = f"{what}; {later:g} ran at once at the end, {most:g} at first"
        verdict = "fail" if later < most else "pass"
        return Check.model_validate({"name": "slots", "verdict": verdict, "what": what})

    def _not_looked_at(self) -> tuple[str, ...]:
        found = []
        if not self._quiet[-1].names:
            found.append("slots: the server has no gauges of its load")
        if not self._held:
            found.append(
                "memory: the server's process is not known; name it with --pid if it "
                "runs on this machine"
            )
        return tuple(found)


def _behind(
    ridden: Seen, alone: Seen, mark: float
) -> tuple[list[int], list[int]] | None:
    """Give the tokens of the steps behind the burst, and of the same place without it.

    :returns: None if chunks do not tell their tokens.
    """
    counts, other = ridden.counts, alone.counts
    if counts is None or other is None:
        return None
    first = sum(when <= mark for when, _ in ridden.chunks)
    place = sum(counts[:first])
    emitted, same = 0, []
    for count in other[:-1]:
        if emitted >= place:
            same.append(count)
        emitted += count
    return [n for n in counts[first:-1] if n], [n for n in same if n]

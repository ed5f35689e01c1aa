"""Which requests are in flight together, and when each is sent."""

from __future__ import annotations

import asyncio
import time

import pytest

from trtspec.bench.http import sending
from trtspec.bench.http.sending import closed_loop, open_loop

PATIENCE = 10.0
"""Seconds after which a test says that nothing more will come."""


class Sends:
    """Notes what was sent and answered; ``answer`` waits as it likes."""

    def __init__(self, answer=None) -> None:
        self.sent: list[tuple[int, float | None, float]] = []
        self.events: list[str] = []
        self.in_flight = self.most = 0
        self._answer = answer or (lambda index: asyncio.sleep(0.002))

    async def __call__(self, index: int, due: float | None) -> None:
        self.sent.append((index, due, time.perf_counter()))
        self.events.append(f"sent {index}")
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        await self._answer(index)
        self.events.append(f"answered {index}")
        self.in_flight -= 1


def run(loop):
    asyncio.run(asyncio.wait_for(loop, PATIENCE))


@pytest.mark.parametrize(("concurrency", "most"), [(1, 1), (3, 3), (50, 8)])
def test_a_closed_loop_keeps_so_many_in_flight(concurrency, most):
    sends = Sends()
    run(closed_loop(sends, 8, concurrency))
    assert sends.most == most
    assert [index for index, _, _ in sends.sent] == list(range(8))
    assert {due for _, due, _ in sends.sent} == {None}


def test_a_slow_answer_holds_up_its_own_slot_only():
    last_was_sent = asyncio.Event()

    async def answer(index):
        if index == 0:
            await last_was_sent.wait()
        elif index == 3:
            last_was_sent.set()

    sends = Sends(answer)
    run(closed_loop(sends, 4, 2))
    assert sends.events.index("sent 3") < sends.events.index("answered 0")


def test_an_open_loop_waits_for_no_answer():
    last_was_sent = asyncio.Event()

    async def answer(index):
        if index == 3:
            last_was_sent.set()
        await last_was_sent.wait()

    sends = Sends(answer)
    start = time.perf_counter()
    due = [0.0, 0.01, 0.02, 0.03]
    run(open_loop(sends, due, start, time.perf_counter))
    assert sends.most == 4
    assert [at for _, at, _ in sends.sent] == [start + offset for offset in due]


def test_an_open_loop_sends_nothing_early():
    sends = Sends()
    start = time.perf_counter()
    run(open_loop(sends, [0.0, 0.01, 0.02, 0.03], start, time.perf_counter))
    assert all(at is not None and sent >= at for _, at, sent in sends.sent)


def test_an_open_loop_that_is_behind_does_not_sleep(monkeypatch):
    slept = []

    async def no_sleep(seconds):
        slept.append(seconds)

    async def at_once(index):
        pass

    monkeypatch.setattr(sending.asyncio, "sleep", no_sleep)
    sends = Sends(at_once)
    start = time.perf_counter() - 60.0  # all three were due long ago
    run(open_loop(sends, [0.0, 0.1, 0.2], start, time.perf_counter))
    assert len(sends.sent) == 3
    assert slept == []


def test_an_error_ends_what_is_in_flight():
    async def fails(index: int, due: float | None) -> None:
        if index == 0:
            raise KeyError
        await asyncio.sleep(10 * PATIENCE)

    with pytest.raises(KeyError):
        run(open_loop(fails, [0.0, 0.0], time.perf_counter(), time.perf_counter))

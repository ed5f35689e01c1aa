"""When each request of a pass is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from trtspec.bench.http.transport import Clock

Send = Callable[[int, float | None], Awaitable[None]]
"""Sends the i-th request, due at clock seconds, or now, and waits for its answer."""


async def closed_loop(send: Send, requests: int, concurrency: int) -> None:
    """Keep so many requests in flight: the next one goes when one is answered."""
    waiting = iter(range(requests))

    async def slot() -> None:
        for index in waiting:
            await send(index, None)

    await asyncio.gather(*(slot() for _ in range(min(concurrency, requests))))


async def open_loop(
    send: Send, due: Sequence[float], started_at: float, clock: Clock
) -> None:
    """Send each request at its time, whatever became of the others.

    :param due: seconds since the start, ascending.
    :param started_at: clock seconds of the start.
    """
    tasks = []
    try:
        for index, offset in enumerate(due):
            at = started_at + offset
            while (left := at - clock()) > 0:
                await asyncio.sleep(left)
            tasks.append(asyncio.ensure_future(send(index, at)))
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()

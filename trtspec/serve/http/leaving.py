"""How work ends when the client that wanted it has left."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import TypeVar

from starlette.requests import ClientDisconnect
from starlette.types import Receive

ResultT = TypeVar("ResultT")


async def unless_gone(receive: Receive, work: Awaitable[ResultT]) -> ResultT:
    """Do some work, and stop it at once if the client disconnects.

    :param receive: of a request whose body was read.
    :raises ClientDisconnect: if the client has gone; the work was cancelled and has
        ended by then.
    """
    job = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_disconnected(receive))
    try:
        await asyncio.wait({job, gone}, return_when=asyncio.FIRST_COMPLETED)
        if job.done():
            return job.result()
        raise ClientDisconnect
    finally:
        for task in (job, gone):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

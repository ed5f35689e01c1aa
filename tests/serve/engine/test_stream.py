"""Chunks of requests that are read together: in order, whole, or with an error."""

from __future__ import annotations

import asyncio
import time

import pytest

from trtspec.run import Chunk, Completion
from trtspec.serve.engine import RequestStream

SOON = 20.0


def chunk(name, last=False):
    done = Completion(name, 1) if last else None
    return Chunk(name, (1,), "x", 0.0, done)


async def read(stream, seconds=SOON):
    return [c async for c in stream.chunks(time.monotonic() + seconds)]


def test_it_ends_when_all_requests_have():
    async def test():
        stream = RequestStream(["a", "b"])
        pushed = [chunk("a"), chunk("b", True), chunk("a", True)]
        reading = asyncio.create_task(read(stream))
        for one in pushed[:2]:
            stream.push(one)
            await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        assert not reading.done()
        stream.push(pushed[2])
        assert await reading == pushed

    asyncio.run(test())


def test_what_was_pushed_before_the_reader_came_is_there():
    async def test():
        stream = RequestStream(["a"])
        pushed = [chunk("a"), chunk("a"), chunk("a", True)]
        for one in pushed:
            stream.push(one)
        assert await read(stream) == pushed

    asyncio.run(test())


def test_an_error_comes_behind_the_chunks_before_it():
    async def test():
        stream = RequestStream(["a"])
        stream.push(chunk("a"))
        stream.fail(ValueError("x"))
        chunks = stream.chunks(time.monotonic() + SOON)
        assert await anext(chunks) == chunk("a")
        with pytest.raises(ValueError, match="x"):
            await anext(chunks)

    asyncio.run(test())


def test_an_error_wakes_a_reader():
    async def test():
        stream = RequestStream(["a"])
        reading = asyncio.create_task(read(stream))
        await asyncio.sleep(0.01)
        stream.fail(ValueError("x"))
        with pytest.raises(ValueError, match="x"):
            await asyncio.wait_for(reading, SOON)

    asyncio.run(test())


def test_a_deadline_ends_the_wait():
    async def test():
        stream = RequestStream(["a"])
        stream.push(chunk("a"))
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            await read(stream, 0.05)
        assert time.monotonic() - began >= 0.05

    asyncio.run(test())


def test_a_deadline_that_is_past_gives_what_is_there():
    async def test():
        stream = RequestStream(["a"])
        stream.push(chunk("a", True))
        assert len(await read(stream, -1.0)) == 1

    asyncio.run(test())


def test_a_cancellation_beside_a_chunk_is_heeded():
    async def test():
        stream = RequestStream(["a"])
        reading = asyncio.create_task(read(stream))
        await asyncio.sleep(0.01)
        stream.push(chunk("a"))
        await asyncio.sleep(0)  # the wait has ended; its reader has not gone on yet
        reading.cancel()
        done, _ = await asyncio.wait({reading}, timeout=20)
        assert done
        assert reading.cancelled()

    asyncio.run(test())

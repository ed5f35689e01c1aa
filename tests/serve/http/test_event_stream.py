"""Server-sent events: their form, their order, and readers who leave or stall."""

from __future__ import annotations

import asyncio
import json

import pytest
from starlette.requests import ClientDisconnect

from trtspec.serve.http.event_stream import DONE, EventStream, event


class Source:
    """Events, and whether it was closed."""

    def __init__(self, *events, wait=0.0) -> None:
        self._events, self._wait = events, wait
        self.closed = False

    async def run(self):
        try:
            for one in self._events:
                await asyncio.sleep(self._wait)
                yield one
        finally:
            self.closed = True


async def _never():
    await asyncio.sleep(60)


async def send_all(source, send, receive=_never, write_seconds=20.0):
    response = EventStream(source.run(), b"first", write_seconds)
    await response({"type": "http"}, receive, send)


def test_an_event_is_one_line_of_data():
    document = json.dumps({"text": "a\nb\r\n\u2028é"})
    assert event(document).startswith(b"data: {")
    assert event(document).endswith(b"}\n\n")
    assert event(document).count(b"\n") == 2
    assert event("[DONE]") == DONE


def test_head_first_event_others_end():
    sent = []

    async def send(message):
        sent.append(message)

    source = Source(b"second", b"third")
    asyncio.run(send_all(source, send))
    head, *bodies = sent
    assert head["status"] == 200
    headers = dict(head["headers"])
    assert headers[b"content-type"].startswith(b"text/event-stream")
    assert headers[b"cache-control"] == b"no-cache"
    assert headers[b"x-accel-buffering"] == b"no"
    assert b"content-length" not in headers
    assert [b["body"] for b in bodies] == [b"first", b"second", b"third", b""]
    assert [b.get("more_body", False) for b in bodies] == [True, True, True, False]
    assert source.closed


def test_a_client_that_leaves_closes_the_source():
    async def test():
        gone = asyncio.Event()

        async def receive():
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            if message.get("body") == b"second":
                gone.set()

        source = Source(b"second", *[b"more"] * 1000, wait=0.005)
        with pytest.raises(ClientDisconnect):
            await send_all(source, send, receive)
        assert source.closed

    asyncio.run(test())


def test_a_client_that_takes_nothing_counts_as_gone():
    async def test():
        async def send(message):
            if message.get("body") == b"second":
                await asyncio.sleep(60)

        source = Source(b"second", b"third")
        with pytest.raises(ClientDisconnect):
            await send_all(source, send, write_seconds=0.05)
        assert source.closed

    asyncio.run(test())


def test_what_fails_closes_the_source():
    async def test():
        async def send(message):
            raise OSError

        source = Source(b"second")
        stream = source.run()
        await anext(stream)
        response = EventStream(stream, b"first", 20.0)
        with pytest.raises(OSError):  # noqa: PT011 - the one above
            await response({"type": "http"}, _never, send)
        assert source.closed

    asyncio.run(test())


def test_a_client_whose_leaving_lets_the_writer_go_on():
    """What waits for room is set free and cancelled in one turn of the loop."""

    async def test():
        gone, count = asyncio.Event(), 0

        async def send(message):
            if message["type"] == "http.response.body":
                await gone.wait()

        async def receive():
            await gone.wait()
            return {"type": "http.disconnect"}

        async def without_end():
            nonlocal count
            while True:
                await asyncio.sleep(0)
                count += 1
                yield b"more"

        response = EventStream(without_end(), b"first", 60.0)
        answering = asyncio.create_task(response({"type": "http"}, receive, send))
        await asyncio.sleep(0.01)
        gone.set()
        done, _ = await asyncio.wait({answering}, timeout=20)
        assert done
        assert isinstance(answering.exception(), ClientDisconnect)
        assert count < 3

    asyncio.run(test())

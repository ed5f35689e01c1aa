"""Work ends when the client that wanted it has gone, and not before."""

from __future__ import annotations

import asyncio

import pytest
from starlette.requests import ClientDisconnect

from trtspec.serve.http.leaving import unless_gone


class Client:
    def __init__(self) -> None:
        self.gone = asyncio.Event()
        self.asked = 0

    async def receive(self):
        self.asked += 1
        if self.asked == 1:  # what is left of a body is no sign of leaving
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}


def test_work_that_is_done_gives_its_result():
    async def test():
        client = Client()

        async def work():
            await asyncio.sleep(0.01)
            return 5

        assert await unless_gone(client.receive, work()) == 5
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(test())


def test_errors_of_work_come_through():
    async def test():
        async def work():
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await unless_gone(Client().receive, work())

    asyncio.run(test())


def test_work_has_ended_when_the_client_is_said_to_be_gone():
    async def test():
        client, steps = Client(), []

        async def work():
            try:
                steps.append("began")
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(0.02)
                steps.append("cleaned up")

        job = asyncio.ensure_future(unless_gone(client.receive, work()))
        await asyncio.sleep(0.02)
        assert steps == ["began"]
        client.gone.set()
        with pytest.raises(ClientDisconnect):
            await job
        assert steps == ["began", "cleaned up"]

    asyncio.run(test())


def test_being_cancelled_ends_the_work():
    async def test():
        ended = []

        async def work():
            try:
                await asyncio.sleep(60)
            finally:
                ended.append(True)

        job = asyncio.ensure_future(unless_gone(Client().receive, work()))
        await asyncio.sleep(0.02)
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
        assert ended == [True]
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(test())

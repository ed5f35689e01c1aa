"""Whether anything is left of requests that clients gave up at any moment."""

from __future__ import annotations

import asyncio
import random

import psutil

from tests.serve.proxy.rig import FakeServer, events, front, run, until
from trtspec.serve.proxy.pool import ON

CANCELS = 200


@run
async def test_clients_that_leave_at_random_leave_nothing_behind():
    chance = random.Random(7)
    words = tuple(f"w{i} " for i in range(400))

    class Slow(FakeServer):
        async def _event(self, reply, document):
            await super()._event(reply, document)
            await asyncio.sleep(0.001)

    async with (
        Slow(words).running() as server,
        front({ON: server}, places=32, waiting=CANCELS) as there,
    ):

        async def one(index):
            await asyncio.sleep(chance.random() * 0.3)
            if index % 3:
                async with there.stream() as response:
                    await events(response)
            else:
                await there.post()

        await one(1)
        files = psutil.Process().num_fds()
        jobs = [asyncio.create_task(one(index)) for index in range(CANCELS)]
        for job in jobs:
            await asyncio.sleep(chance.random() * 0.01)
            job.cancel()
        ended = await asyncio.gather(*jobs, return_exceptions=True)
        assert any(isinstance(one, asyncio.CancelledError) for one in ended)
        inside = there.service.pools[ON].admission
        await until(lambda: inside.inside == 0 and server.open == 0)
        async with there.stream() as response:  # and it goes on as before
            assert (await events(response))[-1] == "[DONE]"
        # the client's own idle connections are closed after 5 s, ours after 2 s
        await until(lambda: psutil.Process().num_fds() <= files + 4)
        outcomes = [line["outcome"] for line in there.lines]
        assert set(outcomes) == {"ok", "gone"}

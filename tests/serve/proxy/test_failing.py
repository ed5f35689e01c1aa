"""What clients see when a server dies, and when it comes back."""

from __future__ import annotations

import asyncio

from tests.serve.proxy.rig import WORDS, FakeServer, events, front, run, text_of, until
from trtspec.serve.proxy.pool import OFF, ON


@run
async def test_server_that_dies_before_its_answer_is_a_bad_gateway():
    async with (
        FakeServer(vanish=True).running() as server,
        front({ON: server}) as there,
    ):
        answer = await there.post()
        assert answer.status_code == 502
        error = answer.json()["error"]
        assert (error["code"], error["type"]) == ("server_lost", "server_error")
        assert answer.headers["retry-after"]
        assert await there.metric("trtspec:requests_failed_total", reason="502") == 1
        assert there.service.pools[ON].admission.inside == 0


@run
async def test_server_that_dies_in_a_stream_ends_it_with_an_error():
    async with (
        FakeServer(vanish=True).running() as server,
        front({ON: server}) as there,
    ):
        async with there.stream() as response:
            assert response.status_code == 200
            found = await events(response)
        assert text_of(found[:-1]) == WORDS[0]
        assert found[-1]["error"]["code"] == "server_lost"
        assert "[DONE]" not in found
        await until(lambda: there.lines)
        assert there.lines[0]["outcome"] == "failed"
        assert await there.metric("trtspec:requests_failed_total", reason="502") == 1
        assert await there.metric("trtspec:request_success_total") == 0


@run
async def test_stream_that_ends_without_done_is_not_taken_for_whole():
    class Short(FakeServer):
        async def _stream(self, request, body):
            from aiohttp import web

            return web.Response(body=b'data: {"choices": []}\n\n')

    async with Short().running() as server, front({ON: server}) as there:
        async with there.stream() as response:
            found = await events(response)
        assert found[-1]["error"]["code"] == "server_lost"


@run
async def test_error_in_a_stream_is_put_into_openais_form():
    class Failing(FakeServer):
        said = b'data: {"error": "CUDA error"}\n\n'
        before = b""

        async def _stream(self, request, body):
            from aiohttp import web

            return web.Response(body=self.before + self.said)

    async with Failing().running() as server, front({ON: server}) as there:
        async with there.stream() as response:  # nothing was sent: it has a status
            assert response.status_code == 500
        Failing.before = b'data: {"choices": [{"index": 0, "text": "a"}]}\n\n'
        async with there.stream() as response:
            found = await events(response)
        assert [text_of(found[:1]), found[1]["error"]["message"]] == ["a", "CUDA error"]


@run
async def test_while_a_server_is_down_requests_are_told_when_to_come_again():
    async with FakeServer().running() as server, front({ON: server}) as there:
        one = there.service.pools[ON]
        one.down("trtllm-serve was ended by signal 9", 2.0)
        await until(lambda: not there.service.phase.ready)
        answer = await there.post()
        assert answer.status_code == 503
        assert "was ended by signal 9" in answer.json()["error"]["message"]
        assert int(answer.headers["retry-after"]) > 0
        ready = await there.client.get("/ready")
        assert (ready.status_code, ready.json()["pools"]["on"]["state"]) == (
            503,
            "down",
        )
        assert (await there.client.get("/health")).status_code == 200
        assert await there.metric("trtspec:ready") == 0
        await there.service.came_up(ON, server.url)
        assert (await there.client.get("/ready")).status_code == 200
        assert (await there.post()).status_code == 200


@run
async def test_server_that_is_not_there_is_no_answer_lost():
    async with FakeServer().running() as server, front({ON: server}) as there:
        await server.runner.cleanup()
        assert (await there.post()).status_code == 502
        async with there.stream() as response:
            assert response.status_code == 502


@run
async def test_connection_that_was_closed_while_idle_is_tried_again():
    class Closing(FakeServer):
        times = 0

        async def answer(self, request):
            if request.headers.get("traceparent") == "cut" and not Closing.times:
                Closing.times += 1
                request.transport.abort()
            return await super().answer(request)

    async with Closing().running() as server, front({ON: server}) as there:
        answer = await there.post(headers={"traceparent": "cut"})
        assert answer.status_code == 200
        assert Closing.times == 1


@run
async def test_what_insists_on_no_pool_is_served_by_the_other_one():
    async with (
        FakeServer().running() as on,
        FakeServer().running() as off,
        front({ON: on, OFF: off}) as there,
    ):
        there.service.pools[ON].down("it died")
        answer = await there.post()
        assert (answer.status_code, answer.headers["x-trtspec-pool"]) == (200, "off")
        assert answer.headers["x-trtspec-route"] == "failover"
        insisting = await there.post(speculation={"enabled": True})
        assert insisting.status_code == 503
        assert (await there.client.get("/ready")).status_code == 200
        there.service.pools[OFF].down("it died, too")
        await until(lambda: not there.service.phase.ready)
        assert (await there.post()).status_code == 503


@run
async def test_many_clients_at_a_death_all_hear_of_it():
    async with (
        FakeServer(vanish=True).running() as server,
        front({ON: server}, places=8, waiting=32) as there,
    ):
        server.gate.clear()

        async def streamed():
            async with there.stream() as response:
                return (await events(response))[-1]["error"]["code"]

        whole = [asyncio.create_task(there.post()) for _ in range(10)]
        parts = [asyncio.create_task(streamed()) for _ in range(10)]
        await until(lambda: server.open == 20)
        server.gate.set()
        assert {answer.status_code for answer in await asyncio.gather(*whole)} == {502}
        assert set(await asyncio.gather(*parts)) == {"server_lost"}
        assert there.service.pools[ON].admission.inside == 0
        assert await there.metric("trtspec:requests_failed_total", reason="502") == 20


@run
async def test_server_that_takes_no_connection_is_no_slow_request(monkeypatch):
    import socket

    from trtspec.serve.proxy import upstream

    monkeypatch.setattr(upstream, "CONNECT_SECONDS", 0.3)
    async with FakeServer().running() as server, front({ON: server}) as there:
        with socket.socket() as full:
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            port = full.getsockname()[1]
            held = []
            for _ in range(4):  # its queue is full then, and nobody accepts
                one = socket.socket()
                one.setblocking(False)
                one.connect_ex(("127.0.0.1", port))
                held.append(one)
            there.service.pools[ON].url = f"http://127.0.0.1:{port}"
            answer = await there.post()
            assert answer.status_code == 502
            assert "no connection within" in answer.json()["error"]["message"]
            for one in held:
                one.close()

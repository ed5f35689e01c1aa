"""Whether answers pass the front whole, in order, at once, and to nobody else."""

from __future__ import annotations

import asyncio
import json

import httpx

from tests.serve.proxy.rig import (
    WORDS,
    FakeServer,
    events,
    front,
    run,
    text_of,
    until,
)
from trtspec.serve.limits import ServeLimits
from trtspec.serve.proxy.pool import ON


@run
async def test_whole_answer_is_the_servers_with_what_speculation_did():
    async with FakeServer().running() as server, front({ON: server}) as there:
        answer = await there.post()
        assert answer.status_code == 200
        assert answer.headers["x-trtspec-pool"] == "on"
        (choice,) = answer.json()["choices"]
        assert choice["text"] == "".join(WORDS)
        # 4 tokens at 2 a step: the prefill and one more, which accepted 2
        assert choice["speculation"] == {
            "method": "ngram",
            "enabled": True,
            "steps": 1,
            "drafted": None,
            "accepted": 2,
            "acceptance_rate": None,
            "acceptance_length": 3.0,
            "lossy": "",
        }


@run
async def test_stream_comes_piece_by_piece_and_ends_with_done():
    async with FakeServer().running() as server, front({ON: server}) as there:
        server.gate.clear()
        async with there.stream() as response:
            lines = response.aiter_lines()
            first = await anext(line async for line in lines if line)
            # the server has sent no more than this: it was passed on at once
            assert (
                json.loads(first.removeprefix("data: "))["choices"][0]["text"]
                == (WORDS[0])
            )
            server.gate.set()
            rest = [line async for line in lines if line]
        assert rest[-1] == "data: [DONE]"
        documents = [json.loads(line.removeprefix("data: ")) for line in rest[:-1]]
        assert [d["choices"][0]["text"] for d in documents] == list(WORDS[1:])
        last = documents[-1]["choices"][0]
        assert last["finish_reason"] == "length"
        assert (last["speculation"]["steps"], last["speculation"]["accepted"]) == (1, 2)
        assert all("speculation" not in d["choices"][0] for d in documents[:-1])


@run
async def test_token_counts_are_asked_for_and_shown_only_who_wants_them():
    async with FakeServer().running() as server, front({ON: server}) as there:
        async with there.stream() as response:
            without = await events(response)
        async with there.stream(stream_options={"include_usage": True}) as response:
            with_usage = await events(response)
        assert text_of(without) == text_of(with_usage) == "".join(WORDS)
        assert not any("usage" in event for event in without)
        assert with_usage[-2]["usage"]["completion_tokens"] == 4
        assert with_usage[-2]["choices"] == []
        for _, body in server.asked:
            assert body["stream_options"] == {"include_usage": True}


@run
async def test_many_streams_at_once_are_not_mixed_up():
    words = tuple(f"w{i} " for i in range(50))
    async with (
        FakeServer(words).running() as server,
        front({ON: server}, places=64, waiting=64) as there,
    ):

        async def one():
            async with there.stream() as response:
                return text_of(await events(response))

        texts = await asyncio.gather(*(one() for _ in range(40)))
        assert set(texts) == {"".join(words)}
        assert there.service.pools[ON].admission.inside == 0


@run
async def test_credentials_stay_here_and_trace_headers_go_on():
    async with (
        FakeServer().running() as server,
        front({ON: server}, keys=["secret"]) as there,
    ):
        sent = {"Authorization": "Bearer secret", "Cookie": "a=b", "X-Other": "1"}
        sent |= {"traceparent": "00-1-2-01", "x-request-id": "mine"}
        assert (await there.post(headers=sent)).status_code == 200
        ((headers, _),) = server.asked
        seen = {name.lower(): value for name, value in headers.items()}
        assert not {"authorization", "cookie", "x-other"} & set(seen)
        assert "secret" not in json.dumps(seen)
        assert (seen["traceparent"], seen["x-request-id"]) == ("00-1-2-01", "mine")
        assert (await there.post()).status_code == 401
        assert len(server.asked) == 1


@run
async def test_client_that_leaves_ends_the_servers_part_at_once():
    async with FakeServer().running() as server, front({ON: server}) as there:
        server.gate.clear()
        async with there.stream() as response:
            await anext(response.aiter_lines())
            assert server.open == 1
        await until(lambda: server.gone == 1)
        waiting = asyncio.create_task(there.post())
        await until(lambda: server.open == 1)
        waiting.cancel()
        await until(lambda: server.gone == 2)
        await until(lambda: there.service.pools[ON].admission.inside == 0)
        await until(lambda: [each["outcome"] for each in there.lines] == ["gone"] * 2)
        await until(lambda: server.connections <= 1)  # that of the reader of counters


@run
async def test_connections_are_used_again_and_none_is_left_open():
    async with FakeServer().running() as server, front({ON: server}) as there:
        for _ in range(5):
            await there.post()
            async with there.stream() as response:
                await events(response)
        assert server.connections <= 2
        # idle ones are closed, but for that of the reader of counters
        await until(lambda: server.connections <= 1)


@run
async def test_slow_reader_holds_the_server_back():
    async with (
        FakeServer(filler=3000).running() as server,
        front({ON: server}) as there,
    ):
        host, port = "127.0.0.1", int(there.url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection(host, port, limit=1024)
        body = json.dumps(
            {"model": "tiny-on", "prompt": "say", "temperature": 0, "stream": True}
        )
        writer.write(
            f"POST /v1/completions HTTP/1.1\r\nHost: here\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        await reader.readuntil(b"\r\n\r\n")
        seen = -1
        while seen != server.sent:  # until nothing moves any more
            seen = server.sent
            await asyncio.sleep(0.3)
        # of 30 MB there is what sockets and buffers hold
        assert server.sent < 15_000_000
        writer.close()
        await until(lambda: server.gone == 1)


@run
async def test_reader_that_stopped_reading_counts_as_gone():
    limits = ServeLimits(write_seconds=0.3)
    async with (
        FakeServer(filler=3000).running() as server,
        front({ON: server}, limits=limits) as there,
    ):
        port = int(there.url.rpartition(":")[2])
        _reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
        body = json.dumps({"model": "tiny-on", "prompt": "say", "stream": True})
        head = "POST /v1/completions HTTP/1.1\r\nHost: here\r\nContent-Length: "
        writer.write(f"{head}{len(body)}\r\n\r\n{body}".encode())
        await until(lambda: server.gone == 1)
        await until(lambda: there.service.pools[ON].admission.inside == 0)
        writer.close()


@run
async def test_too_many_are_turned_away_with_the_time_to_come_again():
    async with (
        FakeServer().running() as server,
        front({ON: server}, places=1, waiting=1) as there,
    ):
        server.gate.clear()
        inside = [asyncio.create_task(there.post()) for _ in range(2)]
        await until(lambda: server.open == 2)
        assert await there.metric("trtspec:num_requests_running") == 1
        assert await there.metric("trtspec:num_requests_waiting") == 1
        refused = await there.post()
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) >= 1
        assert refused.json()["error"]["code"] == "queue_full"
        server.gate.set()
        assert [a.status_code for a in await asyncio.gather(*inside)] == [200, 200]
        assert (await there.post()).status_code == 200


@run
async def test_bodies_that_are_none_or_too_long_go_no_further():
    limits = ServeLimits(body_bytes=1000, choices=2)
    async with (
        FakeServer().running() as server,
        front({ON: server}, limits=limits) as there,
    ):
        long = await there.post(prompt="x" * 2000)
        assert (long.status_code, long.json()["error"]["code"]) == (
            413,
            "body_too_large",
        )
        for content in (b"{", b"[1]", b"\xff", b'"text"', b"{" * 900, b""):
            bad = await there.client.post("/v1/completions", content=content)
            assert bad.status_code == 400, content
            assert bad.json()["error"]["message"]
        many = await there.post(prompt=["a", "b", "c"])
        assert (many.status_code, many.json()["error"]["param"]) == (400, "prompt")
        assert (await there.post(n=3)).json()["error"]["param"] == "n"
        assert (await there.post(model="other")).status_code == 404
        for model in (None, 3, ["tiny-on"]):
            assert (await there.post(model=model)).status_code == 400
        assert (await there.post(stream="yes")).status_code == 400
        assert (await there.post(stream_options={})).status_code == 400
        assert server.asked == []
        assert (await there.client.get("/v2")).status_code == 404
        assert (await there.client.get("/v1/completions")).status_code == 405


@run
async def test_servers_own_refusal_has_its_status_and_openais_form():
    forms = [
        {"error": "no such thing"},
        {"object": "error", "message": "no such thing", "code": 400},
        {"detail": [{"loc": ["body", "n"], "msg": "no such thing"}]},
    ]
    async with FakeServer(status=400).running() as server, front({ON: server}) as there:
        for form in forms:
            server.refusal = form
            answer = await there.post()
            assert answer.status_code == 400
            assert "no such thing" in answer.json()["error"]["message"]
            async with there.stream() as response:
                assert response.status_code == 400
        server.status = 500
        failed = await there.post()
        assert (failed.status_code, failed.json()["error"]["type"]) == (
            500,
            "server_error",
        )
        assert await there.metric("trtspec:requests_failed_total", reason="500") == 1
        assert await there.metric("trtspec:requests_refused_total", reason="400") == 6


@run
async def test_answers_are_counted_and_logged_without_their_text():
    async with FakeServer().running() as server, front({ON: server}) as there:
        await there.post(prompt="very private")
        async with there.stream(prompt="very private") as response:
            await events(response)
        name = "trtspec:request_success_total"
        assert await there.metric(name, finished_reason="length") == 2
        assert await there.metric("trtspec:generation_tokens_total") == 8
        assert await there.metric("trtspec:prompt_tokens_total") == 4
        assert await there.metric("trtspec:verification_steps_total") == 2
        # only a stream shows when its first token came
        assert await there.metric("trtspec:time_to_first_token_seconds_count") == 1
        assert await there.metric("trtspec:e2e_request_latency_seconds_count") == 2
        assert await there.metric("trtspec:info", method="ngram") == 1
        await until(lambda: len(there.lines) == 2)
        whole, streamed = there.lines
        assert whole["ttft"] is None
        assert 0 <= streamed["ttft"] <= streamed["seconds"]
        for line in there.lines:
            assert (line["outcome"], line["output_tokens"]) == ("ok", 4)
            assert line["reason"] == "pool on by only"
            assert "private" not in json.dumps(line)


@run
async def test_request_that_takes_too_long_is_ended():
    limits = ServeLimits(request_seconds=1)
    async with (
        FakeServer().running() as server,
        front({ON: server}, limits=limits) as there,
    ):
        server.gate.clear()
        assert (await there.post()).status_code == 504
        async with there.stream() as response:
            found = await events(response)
        assert found[-1]["error"]["type"] == "timeout_error"
        await until(lambda: server.gone == 2)


@run
async def test_front_that_drains_finishes_what_it_has_and_takes_no_more():
    async with FakeServer().running() as server, front({ON: server}) as there:
        server.gate.clear()
        inside = asyncio.create_task(there.post())
        await until(lambda: server.open == 1)
        draining = asyncio.create_task(there.server.drain(10, lambda: False))
        await asyncio.sleep(0.1)
        async with httpx.AsyncClient(base_url=there.url) as other:
            assert (await other.get("/ready")).status_code == 503
            assert (await other.get("/health")).status_code == 200
            refused = await other.post("/v1/completions", json={"model": "tiny-on"})
            assert refused.status_code == 503
            assert refused.headers["retry-after"]
        assert not draining.done()
        server.gate.set()
        assert (await inside).status_code == 200
        assert await draining

"""A front before servers that do what a test tells them to, all in one event loop."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import time
from dataclasses import dataclass, field
from typing import Any

import httpx
from aiohttp import web
from packaging.version import Version

from tests.trtllm.pytorch.launch.recipes import recipe
from trtspec.serve.http.admission import Admission
from trtspec.serve.http.api_key import ApiKeys
from trtspec.serve.http.request_log import RequestLog
from trtspec.serve.http.server import HttpServer, listen
from trtspec.serve.limits import ServeLimits
from trtspec.serve.metrics import Identity
from trtspec.serve.proxy.pool import OFF, ON, Pool
from trtspec.serve.proxy.routes import application
from trtspec.serve.proxy.rules import Rules
from trtspec.serve.proxy.screening import Screen
from trtspec.serve.proxy.service import ProxyService

V1_2 = Version("1.2.1")
NONE = {"method": "none"}
WORDS = ("one", " two", " three", " four")


def run(test):
    """Let a coroutine be a test."""

    @functools.wraps(test)
    def tested(*args, **kwargs):
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), 300))

    return tested


def pool(name=ON, *, version=V1_2, waiting=4, places=2, **fields) -> Pool:
    """A pool whose server is not there yet."""
    made = recipe(**({"speculation": NONE} if name == OFF else {}) | fields)
    return Pool(name, f"tiny-{name}", Screen(made, version), Admission(places, waiting))


def identity(one: Pool) -> Identity:
    return Identity("0", "pytorch", one.method, "tiny", "f" * 64, "4")


def chunk(text, *, finish=None, index=0, average=2.0, **rest) -> dict[str, Any]:
    """An event's document, as trtllm-serve writes it."""
    choice = {"index": index, "text": text, "token_ids": None, "logprobs": None}
    choice |= {"finish_reason": finish, "stop_reason": None}
    choice["avg_decoded_tokens_per_iter"] = average
    head = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m"}
    return {**head, "choices": [choice], **rest}


def usage(tokens=4, prompt=2) -> dict[str, Any]:
    counts = {"prompt_tokens": prompt, "completion_tokens": tokens}
    return counts | {"total_tokens": tokens + prompt}


@dataclass
class FakeServer:
    """A server of TensorRT-LLM's API that a test leads by the hand.

    :ivar asked: what arrived: headers and body of each POST.
    :ivar gate: set, it answers on; a test clears it to hold the stream behind the first
        word.
    :ivar gone: answers whose client left before their end.
    :ivar sent: bytes of streams that went to the connection.
    """

    words: tuple[str, ...] = WORDS
    status: int = 200
    refusal: Any = None
    vanish: bool = False
    filler: int = 0
    average: float = 2.0
    asked: list[tuple[dict[str, str], Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    gone: int = 0
    open: int = 0
    sent: int = 0
    records: list[Any] = field(default_factory=list)
    page: str | None = None

    @contextlib.asynccontextmanager
    async def running(self):
        self.gate.set()
        app = web.Application()
        app.router.add_post("/v1/completions", self.answer)
        app.router.add_post("/v1/chat/completions", self.answer)
        app.router.add_get("/metrics", self.metrics)
        app.router.add_get("/prometheus/metrics", self.prometheus)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        self.runner = runner
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield self
        finally:
            await runner.cleanup()

    @property
    def connections(self) -> int:
        """Connections that are open to it."""
        return len(self.runner.server.connections)

    async def metrics(self, request):
        self.paths.append(request.path)
        found, self.records = self.records, []
        return web.json_response(found)

    async def prometheus(self, request):
        self.paths.append(request.path)
        if self.page is None:
            raise web.HTTPNotFound
        return web.Response(text=self.page)

    async def answer(self, request):
        body = await request.json()
        self.asked.append((dict(request.headers), body))
        self.open += 1
        try:
            if self.status != 200:
                return web.json_response(self.refusal, status=self.status)
            if body.get("stream"):
                return await self._stream(request, body)
            await self.gate.wait()
            if self.vanish:
                request.transport.abort()
            text = "".join(self.words)
            document = chunk(text, finish="length", average=self.average, usage=usage())
            return web.json_response(document)
        except (asyncio.CancelledError, ConnectionError):
            self.gone += 1
            raise
        finally:
            self.open -= 1

    async def _stream(self, request, body):
        reply = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await reply.prepare(request)
        for index, word in enumerate(self.words):
            last = index == len(self.words) - 1
            finish = "length" if last else None
            await self._event(reply, chunk(word, finish=finish, average=self.average))
            if index == 0:
                await self.gate.wait()
                if self.vanish:
                    request.transport.abort()
                    return reply
        for _ in range(self.filler):
            await self._event(reply, chunk("x" * 10_000))
        if (body.get("stream_options") or {}).get("include_usage"):
            await self._event(reply, {**chunk(""), "choices": [], "usage": usage()})
        await reply.write(b"data: [DONE]\n\n")
        return reply

    async def _event(self, reply, document):
        data = f"data: {json.dumps(document)}\n\n".encode()
        await reply.write(data)
        self.sent += len(data)


@dataclass
class Front:
    """A front that answers, and a client of it."""

    service: ProxyService
    server: HttpServer
    client: httpx.AsyncClient
    url: str
    lines: list[dict[str, Any]]

    async def post(self, path="/v1/completions", *, headers=None, **body):
        return await self.client.post(path, json=asking(**body), headers=headers)

    def stream(self, path="/v1/completions", *, headers=None, **body):
        document = {**asking(**body), "stream": True}
        return self.client.stream("POST", path, json=document, headers=headers)

    async def metric(self, name, **labels) -> float:
        """The value of a metric; 0 if it is not there."""
        page = (await self.client.get("/metrics")).text
        for line in page.splitlines():
            named = line.startswith((f"{name}{{", f"{name} "))
            if named and all(f'{k}="{v}"' in line for k, v in labels.items()):
                return float(line.rpartition(" ")[2])
        return 0.0


def asking(**body) -> dict[str, Any]:
    plain = {"model": "tiny-on", "prompt": "say", "temperature": 0, "max_tokens": 8}
    return plain | body


@contextlib.asynccontextmanager
async def front(servers, *, rules=None, limits=None, keys=(), codec=None, **fields):
    """Put a front before servers, by pool."""
    pools = {name: pool(name, **fields) for name in servers}
    lines: list[dict[str, Any]] = []
    service = ProxyService(
        pools,
        {name: identity(one) for name, one in pools.items()},
        rules or Rules(),
        codec,
        limits=limits or ServeLimits(),
        keys=ApiKeys(keys),
        log=RequestLog(lambda line: lines.append(json.loads(line))),
    )
    service.start()
    taken = listen("127.0.0.1", 0)
    url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    server = HttpServer(application(service), taken, service.limits)
    await server.start()
    for name, one in servers.items():
        await service.came_up(name, one.url)
    timeout = httpx.Timeout(120)
    async with httpx.AsyncClient(base_url=url, timeout=timeout, verify=False) as client:
        try:
            yield Front(service, server, client, url, lines)
        finally:
            service.phase.enter("draining", "the test ends")
            await server.stop()
            await service.close()


async def until(condition, seconds=60):
    """Wait for something that happens beside us, on a machine that may be busy."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        await asyncio.sleep(0.02)


async def events(response) -> list[Any]:
    """The data of a stream's events, JSON read."""
    found = []
    async for line in response.aiter_lines():
        if line.startswith("data: "):
            data = line.removeprefix("data: ")
            found.append(data if data == "[DONE]" else json.loads(data))
    return found


def text_of(found) -> str:
    choices = (c for e in found if e != "[DONE]" for c in e.get("choices", ()))
    return "".join(choice["text"] for choice in choices)

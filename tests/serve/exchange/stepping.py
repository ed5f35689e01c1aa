"""Requests that come, go and leave at chosen engine steps, through the whole server.

All of it but the socket: the application is called as uvicorn calls it.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from collections.abc import Sequence
from functools import partial

from tests.serve.exchange.asking import Ask
from tests.serve.replies import Reply, read_reply
from tests.serve.serving import service_for
from trtspec.serve.http.app import application
from trtspec.serve.limits import ServeLimits

MOST_STEPS = 2000


class GatedRunner:
    """A runner that does a step when it is told to; it outlives its drivers."""

    def __init__(self, runner) -> None:
        self._runner = runner
        self._go = threading.Semaphore(0)
        self._open = False
        self.at_gate = threading.Event()

    def __getattr__(self, name):
        return getattr(self._runner, name)

    def advance(self):
        self.at_gate.set()
        self._go.acquire()
        return self._runner.advance()

    def step(self) -> None:
        """Let one step happen."""
        self.at_gate.clear()
        self._go.release()

    def close(self) -> None:
        """The test has more use for the runner."""


class Call:
    """One request to an ASGI application."""

    def __init__(self, app, path: str, body: dict) -> None:
        self._body: bytes | None = json.dumps(body).encode()
        self._gone = asyncio.Event()
        self.stream = bool(body.get("stream"))
        self.status = 0
        self.parts: list[bytes] = []
        scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(b"content-type", b"application/json")],
            "client": ("127.0.0.1", 1),
        }
        self.task = asyncio.ensure_future(app(scope, self._receive, self._send))

    def leave(self) -> None:
        """Close the connection."""
        self._gone.set()

    def reply(self) -> Reply:
        """What came back."""
        self.task.result()
        content = b"".join(self.parts).decode()
        return read_reply(self.status, content, self.stream)

    async def _receive(self) -> dict:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.parts.append(message.get("body", b""))


def play(runner, recipe, asks: Sequence[Ask]) -> list[tuple[Reply, Reply] | None]:
    """Send all asks at their steps, each streamed and whole.

    :returns: both replies, or None for one that left.
    """
    return asyncio.run(_Play(runner, recipe, asks).run())


class _Play:
    def __init__(self, runner, recipe, asks: Sequence[Ask]) -> None:
        self._asks = asks
        self._gate = GatedRunner(runner)
        limits = ServeLimits(waiting=1000)
        self.service = service_for(self._gate, recipe, limits=limits)
        self._app = application(self.service)
        self._calls: dict[tuple[int, bool], Call] = {}
        self._submitted = 0

    async def run(self):
        driver = self.service.driver
        submit = driver.submit

        def counted(*requests):
            self._submitted += 1
            return submit(*requests)

        driver.submit = counted
        driver.start()
        self.service.phase.enter("ready")
        try:
            await self._steps()
            assert driver.streams == {}
            assert self.service.admission.inside == 0
            return [self._replies(index) for index in range(len(self._asks))]
        finally:
            self._gate.step()  # should the driver wait for one
            await driver.close()

    async def _steps(self) -> None:
        wanted = sum(1 if a.leaves is not None else 2 for a in self._asks)
        for step in range(MOST_STEPS):
            await self._join(step)
            self._leave(step)
            await asyncio.sleep(0)
            if len(self._calls) == wanted and self._done():
                return
            if self._running:
                await _until(self._gate.at_gate.is_set)
                self._gate.step()
                await _until(self._stands)
        raise AssertionError("it does not end")

    async def _join(self, step: int) -> None:
        for (index, ask), stream in itertools.product(
            enumerate(self._asks), (True, False)
        ):
            if ask.leaves is not None and not stream:
                continue
            if ask.joins[0 if stream else 1] == step:
                call = Call(self._app, ask.path, ask.body(stream))
                self._calls[index, stream] = call
                await _until(partial(self._arrived, call, self._submitted))

    def _leave(self, step: int) -> None:
        for (index, _), call in self._calls.items():
            ask = self._asks[index]
            if ask.leaves is not None and ask.joins[0] + ask.leaves <= step:
                call.leave()

    def _done(self) -> bool:
        ended = all(call.task.done() for call in self._calls.values())
        return ended and not self._running

    @property
    def _running(self) -> bool:
        return bool(self.service.driver.streams)

    def _stands(self) -> bool:
        """Whether the engine waits for us: at the gate, or for work."""
        return self._gate.at_gate.is_set() or not self._running

    def _arrived(self, call: Call, before: int) -> bool:
        """Whether a request reached the engine, or was answered without it."""
        return self._submitted > before or call.task.done()

    def _replies(self, index: int) -> tuple[Reply, Reply] | None:
        if self._asks[index].leaves is not None:
            return None
        return self._calls[index, True].reply(), self._calls[index, False].reply()


async def _until(condition) -> None:
    for turn in itertools.count():
        if condition():
            return
        assert turn < 200_000, "it did not become so"
        # mostly it is a matter of a few turns of the loop
        await asyncio.sleep(0 if turn < 20 else 0.0003)

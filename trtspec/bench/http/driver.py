"""How requests are sent to a server and measured; a ``Driver`` over HTTP."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from pydantic import JsonValue

from trtspec.bench.arrivals import due_times
from trtspec.bench.driver import Call
from trtspec.bench.http.address import Address
from trtspec.bench.http.answer import Sent, read_answer
from trtspec.bench.http.body import request_body
from trtspec.bench.http.probe import Server
from trtspec.bench.http.reply import Reply
from trtspec.bench.http.sending import closed_loop, open_loop
from trtspec.bench.http.transport import (
    SILENCE_SECONDS,
    Clock,
    Post,
    open_transport,
    proxy_for,
)
from trtspec.bench.outcome import Failed, Pass
from trtspec.bench.records import Load

_BYTES, _BYTES_PER_TOKEN = 4 << 20, 16 << 10
"""Of an answer: far more than any server takes, so that only an endless one is cut."""


class OverHttp:
    """Drives one server.

    Replies are kept as they came and read when the pass is over, so that reading one
    delays no other. A pass holds the bytes of all its replies in memory for that.

    Whether requests speculate is decided where the server is started; trtspec's own
    server takes it from each call, so that both arms can be one server.

    :param off: whether the server is said to decode without drafting; an answer that
        tells of drafts fails then.
    :param silence: seconds without a byte after which a reply is given up.
    """

    def __init__(
        self,
        server: Server,
        *,
        off: bool = False,
        clock: Clock = time.perf_counter,
        silence: float = SILENCE_SECONDS,
    ) -> None:
        self.server = server
        self._off = off
        self._clock = clock
        self._silence = silence

    @property
    def caches_prompts(self) -> bool:
        """Whether an earlier prompt may be found again: nobody can tell, so yes."""
        return True

    def conditions(self) -> dict[str, JsonValue]:
        """Give what the server says of itself, and how it is reached."""
        import aiohttp

        server = self.server
        return {
            "process": "over HTTP",
            "url": server.address.url,
            "api": server.api,
            "model": server.model,
            **server.described,
            "client": f"aiohttp {aiohttp.__version__}, one connection per request",
            "proxy": proxy_for(server.address) is not None,
        }

    def run(
        self,
        calls: Sequence[Call],
        load: Load,
        *,
        seed: int = 0,
        on_answer: Callable[[], None] = lambda: None,
    ) -> Pass:
        """Send all calls in their order; see ``Driver``."""
        server = self.server
        bodies = [
            request_body(call, server.model, server.api, switchable=server.switchable)
            for call in calls
        ]
        due = due_times(load, len(calls), seed)
        off = [
            self._off or (server.switchable and not call.speculate) for call in calls
        ]
        sending = _Sending(calls, bodies, self._clock, on_answer, off)
        with _no_garbage_collection():
            asyncio.run(self._send(sending, load, due))
        return _without_secrets(sending.result(), server.address)

    async def _send(
        self, sending: _Sending, load: Load, due: Sequence[float] | None
    ) -> None:
        address, clock = self.server.address, self._clock
        url = address.endpoint(self.server.api)
        tokens = max((call.output_tokens for call in sending.calls), default=0)
        most = _BYTES + tokens * _BYTES_PER_TOKEN
        async with open_transport(address, url, clock, self._silence, most) as post:
            sending.start(post)
            if due is not None:
                await open_loop(sending.send, due, sending.started_at, clock)
            elif load.concurrency is not None:
                await closed_loop(sending.send, len(sending.calls), load.concurrency)


class _Sending:
    """What of a pass is sent and answered."""

    def __init__(
        self,
        calls: Sequence[Call],
        bodies: Sequence[bytes],
        clock: Clock,
        on_answer: Callable[[], None],
        off: Sequence[bool],
    ) -> None:
        self.calls = calls
        self.started_at = 0.0
        self._bodies = bodies
        self._clock = clock
        self._on_answer = on_answer
        self._off = off
        self._replies: dict[int, tuple[Sent, Reply]] = {}
        self._post: Post

        self._silent = False

    def start(self, post: Post) -> None:
        """Begin; connections are made with the first requests."""
        self._post = post
        self.started_at = self._clock()

    async def send(self, index: int, due: float | None) -> None:
        """Send one request and keep what comes back."""
        began = self._clock()
        if self._silent:  # each further one would be waited for as long
            reply = Reply(broken="was not sent: the server had fallen silent before")
        else:
            reply = await self._post(self._bodies[index])
        self._silent |= reply.silent
        sent_at = began if reply.sent_at is None else reply.sent_at
        due_at = sent_at if due is None else due
        sent = Sent(self.calls[index], due_at, sent_at, self._off[index])
        self._replies[index] = (sent, reply)
        self._on_answer()

    def result(self) -> Pass:
        """Read all replies."""
        outcomes = tuple(
            read_answer(*self._replies[index]) for index in range(len(self.calls))
        )
        result = Pass(outcomes, None, self.started_at, self._clock())
        last = max((o.chunks[-1][0] for o in result.answered), default=None)
        if last is None:
            return result
        return Pass(outcomes, None, self.started_at, last)


def _without_secrets(result: Pass, address: Address) -> Pass:
    """Hide our key where a server repeats it in its refusal."""
    outcomes = tuple(
        replace(o, what=address.hide(o.what)) if isinstance(o, Failed) else o
        for o in result.outcomes
    )
    return replace(result, outcomes=outcomes)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Let no search for garbage stop the loop while bytes arrive."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()

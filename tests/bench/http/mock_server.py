"""A real HTTP server whose every byte and pause is scripted, and that notes its times.

As a program it streams the same answer to everybody:

    python -m tests.bench.http.mock_server --tokens 64 --gap-ms 20

prints its address on stdout and serves until its stdin ends. ``GET /log`` gives, as
JSON, what it noted since the last time.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.bench.http.events import DONE, STREAM, chat, role, usage

DROP = None
"""A step that closes the connection without a word."""

Step = float | bytes | None
"""Wait so many seconds, send bytes, or drop the connection."""

clock = time.perf_counter


@dataclass(frozen=True)
class Script:
    """What one request gets.

    :param before: seconds before the first byte of the answer, its headers.
    :param ends: whether HTTP says where the answer ends.
    """

    steps: tuple[Step, ...] = ()
    status: str = "200 OK"
    kind: str = STREAM
    before: float = 0.0
    ends: bool = True
    server: str = "mock"

    def head(self) -> bytes:
        lines = (
            f"HTTP/1.1 {self.status}",
            f"server: {self.server}",
            f"content-type: {self.kind}; charset=utf-8",
            "transfer-encoding: chunked",
        )
        return ("\r\n".join(lines) + "\r\n\r\n").encode()


def framed(piece: bytes) -> bytes:
    """One chunk of HTTP."""
    return b"%x\r\n%b\r\n" % (len(piece), piece)


LAST_CHUNK = b"0\r\n\r\n"


def streamed(
    gaps: tuple[float, ...] = (0.0, 0.0), tokens: int = 2, prompt_tokens: int = 7
) -> Script:
    """A whole chat: a role at once, then a chunk after each gap, then the usage."""
    last = len(gaps) - 1
    steps: list[Step] = [role()]
    for index, gap in enumerate(gaps):
        steps += [gap, chat(f"w{index} ", "length" if index == last else None)]
    return Script((*steps, usage(tokens, prompt_tokens) + DONE))


def document(content: object, status: str = "200 OK") -> Script:
    """An answer in one piece of JSON."""
    return Script((json.dumps(content).encode(),), status, "application/json")


MODELS = {
    "object": "list",
    "data": [{"id": "mock-model", "owned_by": "tests", "max_model_len": 4096}],
}


@dataclass
class Seen:
    """One request as it arrived, and when each of its pieces was sent."""

    path: str
    headers: Mapping[str, str]
    body: Any
    received: float
    sends: list[float] = field(default_factory=list)

    @property
    def name(self) -> str:
        """First word of the prompt: what a test names its request by."""
        messages = self.body.get("messages") or [{"content": self.body.get("prompt")}]
        content = messages[-1]["content"]
        if isinstance(content, list):
            content = content[0]["text"]
        return str(content).split()[0]


Answer = Callable[[Seen], Script]


class MockServer:
    """Serves on a port of its own, from a thread of its own.

    :param answer: gives the script of each POST.
    :param pages: what each GET gets; anything else is 404.
    """

    def __init__(self, answer: Answer | Script | None = None, **pages: Script) -> None:
        script = answer if isinstance(answer, Script) else streamed()
        self._answer: Answer = answer if callable(answer) else lambda _: script
        self._pages = {
            "/v1/models": pages.get("models", document(MODELS)),
            "/version": pages.get("version", document({"version": "1.2.3"})),
        }
        self.seen: list[Seen] = []
        self.in_flight = self.most_in_flight = 0
        self.url = ""
        self.hangs_up = False
        """Whether a connection that had its answer is closed at the next request."""

    async def listen(self, port: int = 0) -> asyncio.Server:
        server = await asyncio.start_server(
            self._serve, "127.0.0.1", port, backlog=1024
        )
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return server

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with contextlib.suppress(
            ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError
        ):
            while await self._one(reader, writer):
                if self.hangs_up:
                    await reader.readexactly(1)
                    break
        writer.close()

    async def _one(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request; whether the connection may have another."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip().split("\r\n")
        method, path, _ = first.split(" ")
        fields = (line.partition(":") for line in lines)
        headers = {name.lower(): value.strip() for name, _, value in fields}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        received = clock()
        seen = Seen(path, headers, json.loads(raw or b"{}"), received)
        if method == "GET":
            return await self._play(self._page(path), seen, writer)
        self.seen.append(seen)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._play(self._answer(seen), seen, writer)
        finally:
            self.in_flight -= 1

    def _page(self, path: str) -> Script:
        if path == "/log":
            log, self.seen = self.seen, []
            return document([[s.name, s.received, s.sends] for s in log])
        return self._pages.get(path, document({"detail": "Not Found"}, "404 Not Found"))

    async def _play(
        self, script: Script, seen: Seen, writer: asyncio.StreamWriter
    ) -> bool:
        at = seen.received + script.before
        if script.before:
            await asyncio.sleep(script.before)
        writer.write(script.head())
        for step in script.steps:
            if step is DROP:
                await writer.drain()
                writer.transport.close()  # what was written is still sent
                return False
            if isinstance(step, float):
                at += step  # from here on, not from when the last sleep ended
                if (left := at - clock()) > 0:
                    await asyncio.sleep(left)
                continue
            assert step is not None
            seen.sends.append(clock())
            writer.write(framed(step))
        if script.ends:
            writer.write(LAST_CHUNK)
        await writer.drain()
        return script.ends


@contextlib.contextmanager
def serving(
    answer: Answer | Script | None = None, **pages: Script
) -> Iterator[MockServer]:
    """Serve until the end of the context; whatever is unanswered then is dropped."""
    mock = MockServer(answer, **pages)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(mock.listen(), loop).result(10)

    async def stop() -> None:
        server.close()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    try:
        yield mock
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def main(arguments: list[str] | None = None) -> None:
    """Stream the same answer to everybody."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--first-ms", type=float, default=0.0)
    parser.add_argument("--gap-ms", type=float, default=0.0)
    options = parser.parse_args(arguments)
    gaps = (options.first_ms / 1000, *[options.gap_ms / 1000] * (options.tokens - 1))
    asyncio.run(_until_stdin_ends(MockServer(streamed(gaps, options.tokens))))


async def _until_stdin_ends(mock: MockServer) -> None:
    async with await mock.listen():
        sys.stdout.write(f"{mock.url}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    main()

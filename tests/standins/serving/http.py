"""As much of an HTTP/1.1 server as the stand-in needs."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any


@dataclass(frozen=True)
class HttpRequest:
    """One request; ``gone`` completes when the client is gone."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    gone: asyncio.Task[None]

    def json(self) -> Any:
        return json.loads(self.body or b"null")


@dataclass
class HttpResponse:
    """Either a whole body or a stream of parts."""

    status: int = 200
    body: bytes = b""
    kind: str = "application/json"
    parts: AsyncIterator[str] | None = None

    @classmethod
    def of(cls, content: Any, status: int = 200) -> HttpResponse:
        return cls(status, json.dumps(content).encode())

    @classmethod
    def text(cls, content: str, status: int = 200) -> HttpResponse:
        return cls(status, content.encode(), "text/plain; charset=utf-8")


Answer = Callable[[HttpRequest], Awaitable[HttpResponse]]


@dataclass
class HttpServer:
    """Answers requests; ``drain`` lets those in flight finish."""

    answer: Answer
    _server: Any = None
    _busy: set[asyncio.Task[Any]] = field(default_factory=set)
    _idle: set[asyncio.StreamWriter] = field(default_factory=set)
    _draining: bool = False

    async def start(self, listening: socket.socket) -> None:
        self._server = await asyncio.start_server(self._serve, sock=listening)

    async def drain(self) -> None:
        self._draining = True
        self._server.close()
        for writer in list(self._idle):
            writer.close()
        while self._busy:
            await asyncio.wait(self._busy)

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            while not self._draining:
                self._idle.add(writer)
                head = await _read_head(reader)
                self._idle.discard(writer)
                if head is None:
                    break
                self._busy.add(task)
                await self._one(head, reader, writer)
                self._busy.discard(task)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._busy.discard(task)
            self._idle.discard(writer)
            writer.close()

    async def _one(
        self,
        head: tuple[str, str, dict[str, str]],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        method, path, headers = head
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        gone = asyncio.create_task(_until_closed(reader))
        try:
            request = HttpRequest(method, path, headers, body, gone)
            await _send(writer, await self.answer(request))
        finally:
            if not gone.done():
                gone.cancel()
                await asyncio.wait([gone])


async def _read_head(
    reader: asyncio.StreamReader,
) -> tuple[str, str, dict[str, str]] | None:
    try:
        text = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = text.strip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    return method, path.partition("?")[0], headers


async def _until_closed(reader: asyncio.StreamReader) -> None:
    """Return when the client closed; it sends nothing more while it waits."""
    while not reader.at_eof():
        if reader._buffer:  # type: ignore[attr-defined]
            await asyncio.Event().wait()
        try:
            await reader._wait_for_data("_until_closed")  # type: ignore[attr-defined]
        except ConnectionError:
            return


async def _send(writer: asyncio.StreamWriter, response: HttpResponse) -> None:
    reason = HTTPStatus(response.status).phrase
    lines = [f"HTTP/1.1 {response.status} {reason}", f"content-type: {response.kind}"]
    if response.parts is None:
        lines.append(f"content-length: {len(response.body)}")
        writer.write("\r\n".join([*lines, "", ""]).encode() + response.body)
        await writer.drain()
        return
    lines.append("transfer-encoding: chunked")
    writer.write("\r\n".join([*lines, "", ""]).encode())
    async for part in response.parts:
        data = part.encode()
        writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        await writer.drain()
    writer.write(b"0\r\n\r\n")
    await writer.drain()

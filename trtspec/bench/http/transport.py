"""How bytes are sent and received: one HTTP connection per request in flight."""

from __future__ import annotations

import asyncio
import os
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from trtspec.bench.http.address import Address
from trtspec.bench.http.reply import Reply

if TYPE_CHECKING:
    import aiohttp

Clock = Callable[[], float]
Post = Callable[[bytes], Awaitable[Reply]]
"""Sends a body and gives all that comes back; it never raises."""

CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 600.0
"""Longest wait for the next bytes: a long prompt behind many others takes its time."""
MOST_BYTES = 1 << 28
"""Of one reply, if its request does not say how long it may be."""
_LONGEST_COMMENT = 256
_IDLE_SECONDS = 2.0
"""How long a connection without a request is kept; servers close theirs after 5 s."""
_NO_COMPRESSION = "identity"  # a compressor would hold chunks back


def proxy_for(address: Address) -> str | None:
    """Give the proxy that leads to a server; None if there is none.

    Environment variables say it, as everywhere: HTTP_PROXY, HTTPS_PROXY, NO_PROXY.
    """
    if address.here or urllib.request.proxy_bypass(address.host):
        return None
    return urllib.request.getproxies().get(urlsplit(address.url).scheme)


@asynccontextmanager
async def open_transport(
    address: Address,
    url: str,
    clock: Clock,
    silence: float = SILENCE_SECONDS,
    most: int = MOST_BYTES,
) -> AsyncIterator[Post]:
    """Keep connections to a server.

    A request is sent when it goes to its connection: making one is no part of what a
    server does for a request. Bytes get their time as soon as they are there; nothing
    is looked at before the reply is whole.

    :param url: that all bodies are sent to.
    :param silence: seconds after which a reply is given up if no byte came, or nothing
        but the comments by which servers and proxies keep a connection open.
    :param most: bytes after which a reply is given up: it would never end.
    """
    import aiohttp

    headers = {
        "Content-Type": "application/json",
        "Accept": "text/event-stream",
        "Accept-Encoding": _NO_COMPRESSION,
    }
    if address.authorization:
        headers["Authorization"] = address.authorization
    proxy = proxy_for(address)
    timeout = aiohttp.ClientTimeout(
        total=None, sock_connect=CONNECT_SECONDS, sock_read=silence
    )
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=headers,
        timeout=timeout,
        trace_configs=[_noting_sends(clock)],
    ) as session:

        async def exchange(body: bytes, reply: Reply) -> None:
            async with session.post(
                url,
                data=body,
                proxy=proxy,
                allow_redirects=False,
                trace_request_ctx=reply,
            ) as response:
                reply.status = response.status
                reply.reason = response.reason or ""
                reply.kind = response.content_type
                await _receive(response.content, reply, clock, silence, most)

        async def post(body: bytes) -> Reply:
            reply = Reply()
            try:
                try:
                    await exchange(body, reply)
                except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                    if reply.status or not reply.reused:
                        raise
                    # it had closed a connection that we had kept: not a word of it
                    reply = Reply()
                    await exchange(body, reply)
            except asyncio.TimeoutError as error:
                reply.broken, reply.silent = _timed_out(error, silence), True
            except (aiohttp.ClientError, OSError, ValueError) as error:
                reply.broken = _in_words(error)
            return reply

        yield post


async def _receive(
    content: aiohttp.StreamReader, reply: Reply, clock: Clock, silence: float, most: int
) -> None:
    """Take the body, piece by piece, until it ends or is given up."""
    add = reply.arrivals.append
    last, size = clock(), 0
    async for piece in content.iter_any():
        now = clock()
        add((now, piece))
        size += len(piece)
        if size > most:
            reply.broken = f"the answer does not end: {size} bytes have come"
            return
        if not _is_comment(piece):
            last = now
        elif now - last > silence:
            reply.broken = f"the server sent only comments for {silence:g} s"
            reply.silent = True
            return


def _is_comment(piece: bytes) -> bool:
    """Whether it is a comment of an event stream, or the space between events."""
    return len(piece) < _LONGEST_COMMENT and piece.lstrip()[:1] in (b"", b":")


def _noting_sends(clock: Clock) -> aiohttp.TraceConfig:
    """Make aiohttp note in the reply which connection it has, and when it writes."""
    import aiohttp

    config = aiohttp.TraceConfig()

    async def note(session: object, context: SimpleNamespace, _: object) -> None:
        context.trace_request_ctx.sent_at = clock()

    async def reuse(session: object, context: SimpleNamespace, _: object) -> None:
        context.trace_request_ctx.reused = True

    config.on_request_headers_sent.append(note)
    config.on_connection_reuseconn.append(reuse)
    return config


def _timed_out(error: Exception, silence: float) -> str:
    import aiohttp

    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return f"no connection within {CONNECT_SECONDS:g} s"
    return f"the server sent nothing for {silence:g} s"


def _in_words(error: Exception) -> str:
    import aiohttp

    if isinstance(error, aiohttp.ClientConnectorError):
        why = error.os_error.strerror or str(error.os_error)
        if error.os_error.errno:
            why = os.strerror(error.os_error.errno)
        return f"no connection to the server: {why}"
    if isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientPayloadError):
        return "the server closed the connection"
    if isinstance(error, ConnectionResetError):
        return "the server reset the connection"
    return f"the connection failed: {error or type(error).__name__}"

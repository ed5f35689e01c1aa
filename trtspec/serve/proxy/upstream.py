"""How requests reach the servers behind the front, and how their answers come back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from trtspec.serve.openai.errors import (
    BAD_GATEWAY,
    BAD_REQUEST,
    FAILED,
    TOO_LATE,
    RefusalError,
)
from trtspec.serve.proxy.annotating import error_text
from trtspec.serve.proxy.pool import RESTART_SECONDS, Pool

if TYPE_CHECKING:
    import aiohttp

CONNECT_SECONDS = 5.0
IDLE_SECONDS = 2.0
"""How long an idle connection is kept; the server closes its own after 5 s (uvicorn's
``timeout_keep_alive``), and what is sent just then is lost."""
MOST_BYTES = 1 << 26
"""Of an answer in one piece."""
_BUFFERED = 1 << 16
"""Bytes that are read ahead of a slow client; then the server has to wait."""
_FOUND = 200
PASSED_ON = ("traceparent", "tracestate", "x-request-id")
"""Headers of a client that go to the server; no credentials are among them."""


class LostError(Exception):
    """A server went away in the middle of an answer; its text says how."""


class Upstream:
    """Connections to the servers, which are on loopback.

    To be made and closed in the event loop.

    :param seconds: that a request may take in all.
    """

    def __init__(self, seconds: float) -> None:
        import aiohttp

        self._seconds = seconds
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_SECONDS),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=seconds, sock_connect=CONNECT_SECONDS),
            read_bufsize=_BUFFERED,
            trust_env=False,  # no proxy leads to this machine
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    @asynccontextmanager
    async def post(
        self, pool: Pool, path: str, body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request; gives the answer once its status is there.

        Leaving closes the connection if the answer is not read to its end, at which
        ``trtllm-serve`` aborts the request.

        :param headers: of the client; only those of ``PASSED_ON`` go on.
        :raises RefusalError: if the server refuses it, fails, or is not there.
        """
        sent = {name: headers[name] for name in PASSED_ON if name in headers}
        sent |= {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        data = json.dumps(body).encode()
        reply = await self._open(pool, path, data, sent)
        try:
            if reply.status != _FOUND:
                raise await _refused(pool, reply)
            yield reply
        finally:
            reply.close()

    async def get(self, url: str, seconds: float) -> tuple[int, bytes]:
        """Fetch something small; gives its status and its bytes.

        :raises aiohttp.ClientError: if the server does not answer.
        :raises asyncio.TimeoutError: if it does not in time.
        """
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=seconds)
        async with self._session.get(url, timeout=timeout) as reply:
            return reply.status, await reply.read()

    async def _open(
        self, pool: Pool, path: str, data: bytes, headers: Mapping[str, str]
    ) -> aiohttp.ClientResponse:
        """Send a request, once more if it met a connection that was being closed."""
        import aiohttp

        generation = pool.generation
        for again in (False, True):
            try:
                return await self._session.post(
                    pool.url + path, data=data, headers=headers, allow_redirects=False
                )
            except aiohttp.ServerDisconnectedError as error:
                if again or not pool.ready or generation != pool.generation:
                    raise lost(pool, str(error)) from None
                # a server that is gone refuses the second try; one that closed an idle
                # connection has not read a word of the first
            except aiohttp.ConnectionTimeoutError:
                why = f"no connection within {CONNECT_SECONDS:g} s"
                raise lost(pool, why) from None
            except asyncio.TimeoutError:
                raise too_late(self._seconds) from None
            except (aiohttp.ClientError, OSError) as error:
                raise lost(pool, str(error)) from None
        raise AssertionError("the second try returns or raises")


async def pieces(reply: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
    """Give the body of an answer as it comes.

    :raises LostError: if it breaks off.
    :raises RefusalError: if the request has used up its time.
    """
    import aiohttp

    try:
        async for piece in reply.content.iter_any():
            yield piece
    except asyncio.TimeoutError:
        raise RefusalError(TOO_LATE, "the request took too long") from None
    except (aiohttp.ClientError, OSError) as error:
        raise LostError(str(error) or type(error).__name__) from None


async def whole(pool: Pool, reply: aiohttp.ClientResponse) -> dict[str, Any]:
    """Read an answer in one piece.

    :raises RefusalError: if it breaks off, or is none.
    """
    parts, size = [], 0
    try:
        async for piece in pieces(reply):
            parts.append(piece)
            size += len(piece)
            if size > MOST_BYTES:
                raise RefusalError(BAD_GATEWAY, "the server's answer does not end")
    except LostError as error:
        raise lost(pool, str(error)) from None
    try:
        content = json.loads(b"".join(parts))
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise RefusalError(BAD_GATEWAY, "the server's answer is no JSON object")
    return content


def lost(pool: Pool, how: str) -> RefusalError:
    """Say that the server went away with the request."""
    return RefusalError(
        BAD_GATEWAY,
        f"the server of pool {pool.name} went away before it had answered ({how}); "
        "nothing more of this answer will come: send the request again",
        code="server_lost",
        headers={"Retry-After": str(RESTART_SECONDS)},
    )


def too_late(seconds: float) -> RefusalError:
    """Say that the time of a request is used up."""
    return RefusalError(TOO_LATE, f"the request took more than {seconds:g} s")


async def _refused(pool: Pool, reply: aiohttp.ClientResponse) -> RefusalError:
    """Put the server's refusal into OpenAI's form; its status stays."""
    import aiohttp

    try:
        text = (await _beginning(reply)).decode(errors="replace")
    except (aiohttp.ClientError, OSError, asyncio.TimeoutError) as error:
        return lost(pool, str(error))
    try:
        said = error_text(json.loads(text))
    except (ValueError, RecursionError):
        said = ""
    # a redirection, say, is no refusal: trtllm-serve has none
    status = reply.status if reply.status >= BAD_REQUEST else BAD_GATEWAY
    message = f"{reply.status} from the server: {said or text[:500] or reply.reason}"
    code = "server_error" if status >= FAILED else None
    return RefusalError(status, message, code=code)


async def _beginning(reply: aiohttp.ClientResponse) -> bytes:
    """Read an answer up to a length that no message needs."""
    found = b""
    async for piece in reply.content.iter_any():
        found += piece
        if len(found) > _BUFFERED:
            break
    return found

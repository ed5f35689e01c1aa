"""How an answer is sent as server-sent events, to readers of any speed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping

import anyio
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from trtspec.serve.http.leaving import unless_gone

DONE = b"data: [DONE]\n\n"
_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


def event(document: str) -> bytes:
    """Make an event of a JSON document."""
    return f"data: {document}\n\n".encode()


class EventStream(Response):
    """Sends events as they come; ends their source when the client leaves.

    :param events: closed in every case, so that what it holds is given back.
    :param first: an event that was taken from it already.
    :param write_seconds: a client that takes nothing for so long counts as gone.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        events: AsyncGenerator[bytes, None],
        first: bytes,
        write_seconds: float,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(b"", headers={**_HEADERS, **(headers or {})})
        del self.headers["content-length"]
        self._events, self._first = events, first
        self._write_seconds = write_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events; ClientDisconnect is for the caller to count."""
        try:
            await unless_gone(receive, self._send(send))
        finally:
            await self._events.aclose()

    async def _send(self, send: Send) -> None:
        head = {"status": self.status_code, "headers": self.raw_headers}
        await self._write(send, {"type": "http.response.start", **head})
        await self._write_event(send, self._first)
        async for data in self._events:
            await self._write_event(send, data)
        await self._write(send, {"type": "http.response.body", "body": b""})

    async def _write_event(self, send: Send, data: bytes) -> None:
        message = {"type": "http.response.body", "body": data, "more_body": True}
        await self._write(send, message)

    async def _write(self, send: Send, message: dict[str, object]) -> None:
        # before Python 3.12 wait_for swallows a cancellation that comes as it ends, and
        # what frees a writer is often that its client has left
        with anyio.move_on_after(self._write_seconds) as limit:
            await send(message)
        if limit.cancelled_caught:
            raise ClientDisconnect

"""How many connections a server keeps, and for how long without bytes moving."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from trtspec.serve.openai.errors import BAD_REQUEST, UNAVAILABLE, RefusalError


def _answer(refusal: RefusalError, line: str) -> bytes:
    """Write an answer to what never became a request."""
    body = refusal.document.model_dump_json()
    head = (
        f"HTTP/1.1 {refusal.status} {line}\r\nconnection: close\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
    )
    again = "retry-after: 1\r\n" if refusal.status == UNAVAILABLE else ""
    return f"{head}{again}\r\n{body}".encode()


_TURNED_AWAY = _answer(
    RefusalError(UNAVAILABLE, "too many connections", code="connections"),
    "Service Unavailable",
)
_NOT_HTTP = _answer(
    RefusalError(BAD_REQUEST, "this is no HTTP request", code="no_http"), "Bad Request"
)


class BoundedProtocol(H11Protocol):
    """One connection; refused at once if there are too many.

    uvicorn bounds idle connections only once they have sent a request: one that never
    sends anything would be kept for good. And it waits without end for clients to read
    what was sent to them, even where it has closed the connection.
    """

    most: ClassVar[int]
    head_seconds: ClassVar[float]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Keep a connection, or turn it away."""
        super().connection_made(transport)
        self._patience: asyncio.TimerHandle | None = None
        self._unread, self._unread_since = 0, 0.0
        if len(self.connections) > self.most:
            transport.write(_TURNED_AWAY)
            transport.close()
            return
        self._begin_waiting()

    def data_received(self, data: bytes) -> None:
        """Read bytes; between two requests they begin another head."""
        if self.cycle is None or self.cycle.response_complete:
            self._begin_waiting()
        super().data_received(data)

    def handle_events(self) -> None:
        """Read what has arrived; a whole head ends the wait for it."""
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._end_waiting()

    def send_400_response(self, msg: str) -> None:
        """Say that something is no HTTP, unless an answer is under way."""
        cycle = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            self.transport.write(_NOT_HTTP)
        self.transport.close()

    def stalled(self, seconds: float) -> bool:
        """Whether the client took nothing of what waits for it, for so long."""
        size, now = self.transport.get_write_buffer_size(), time.monotonic()
        if size != self._unread:
            self._unread, self._unread_since = size, now
        return size > 0 and now - self._unread_since >= seconds

    def abort(self) -> None:
        """End the connection and drop what waits to be sent."""
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._end_waiting()
        super().connection_lost(exc)

    def _begin_waiting(self) -> None:
        if self._patience is None:
            self._patience = self.loop.call_later(self.head_seconds, self._give_up)

    def _end_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()


def drop_stalled(connections: Iterable[object], seconds: float) -> None:
    """End the connections whose clients read nothing for so long.

    To be called again and again: each call notes how much is unread.
    """
    for connection in tuple(connections):
        if isinstance(connection, BoundedProtocol) and connection.stalled(seconds):
            connection.abort()


def bounded(most: int, head_seconds: float) -> type[BoundedProtocol]:
    """Make the protocol of a server.

    :param most: connections.
    :param head_seconds: until a request's head must be there, once it began or
        could have begun.
    """
    settings: dict[str, Any] = {"most": most, "head_seconds": head_seconds}
    return type("ServerProtocol", (BoundedProtocol,), settings)

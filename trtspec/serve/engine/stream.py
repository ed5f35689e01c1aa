"""What becomes of some requests, chunk by chunk, for a coroutine that waits for it."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable

import anyio

from trtspec.run import Chunk


class RequestStream:
    """The chunks of one or more requests; it belongs to the event loop's thread.

    There are never more chunks in it than the requests have output tokens, so that a
    reader who lags needs no bound of its own.

    :param request_ids: of the requests that are read together.
    """

    def __init__(self, request_ids: Iterable[str]) -> None:
        self.open = set(request_ids)
        self._chunks: deque[Chunk] = deque()
        self._error: Exception | None = None
        self._news = asyncio.Event()

    def push(self, chunk: Chunk) -> None:
        """Take a chunk; the one with a completion is its request's last."""
        self._chunks.append(chunk)
        if chunk.completion is not None:
            self.open.discard(chunk.request_id)
        self._news.set()

    def fail(self, error: Exception) -> None:
        """End with an error, behind the chunks that came before it."""
        self._error = error
        self._news.set()

    async def chunks(self, deadline: float) -> AsyncIterator[Chunk]:
        """Give the chunks as they come, until all requests have ended.

        :param deadline: on the clock of ``time.monotonic``.
        :raises TimeoutError: if it passes.
        :raises Exception: what a request failed with.
        """
        while True:
            while self._chunks:
                yield self._chunks.popleft()
            if self._error is not None:
                raise self._error
            if not self.open:
                return
            left = deadline - time.monotonic()
            with anyio.fail_after(left):  # wait_for may swallow a cancellation
                await self._news.wait()
            self._news.clear()

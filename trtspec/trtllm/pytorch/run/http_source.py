"""Tokens from a running ``trtllm-serve``, over POST /v1/completions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, cast

from packaging.version import Version

from trtspec.errors import RunError
from trtspec.run.types import Request
from trtspec.trtllm.pytorch.metrics import Acceptance
from trtspec.trtllm.pytorch.run.http_counters import CONNECT_SECONDS, count_drafts
from trtspec.trtllm.pytorch.run.reach import PATH
from trtspec.trtllm.pytorch.run.sampling import completion_body
from trtspec.trtllm.pytorch.run.server_check import unreachable
from trtspec.trtllm.pytorch.run.server_events import (
    DONE,
    Event,
    EventReader,
    error_text,
    read_event,
)
from trtspec.trtllm.pytorch.run.source import Delta

if TYPE_CHECKING:
    import httpx

SILENCE_SECONDS = 600.0
"""Longest wait for the next event: a long prompt behind many others takes its time."""
LAST_BREATH_SECONDS = 2.0
"""A server that dies closes its connections a moment before it is gone."""
_LOOK_SECONDS = 0.02
_FOUND = 200


class _LostError(RunError):
    """The stream broke off."""


class HttpSource:
    """Generates on a server that is ready.

    :param model: as the server names it.
    :param end_tokens: ids that end an output.
    :param ours: whether nobody else uses the server, so that its statistics are ours.
    :param before: its Prometheus page before the first request; None if it has none.
    :param why_ended: gives the error for a server that has ended, if that is known.
    """

    def __init__(
        self,
        url: str,
        model: str,
        version: Version,
        end_tokens: Collection[int],
        *,
        ours: bool = False,
        before: str | None = None,
        why_ended: Callable[[], RunError | None] = lambda: None,
    ) -> None:
        import httpx

        self._url = url
        self._model = model
        self._version = version
        self._end_tokens = end_tokens
        self._ours = ours
        self._before = before
        self._why_ended = why_ended
        self._client = httpx.AsyncClient(
            base_url=url,
            timeout=httpx.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS, pool=None),
            limits=httpx.Limits(max_connections=None),
            trust_env=not ours,  # no proxy leads to a server of our own
        )

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return f"trtllm-serve {self._version} at {self._url}"

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Generate for a request; see ``Source``.

        Leaving early closes the connection, at which the server aborts the request.
        """
        import httpx

        body = completion_body(request, self._model, self._end_tokens)
        where = f"request {request.id}"
        try:
            async with self._client.stream("POST", PATH, json=body) as reply:
                await self._require_accepted(reply, where)
                async with aclosing(_deltas(reply, where)) as deltas:
                    async for delta in deltas:
                        yield delta
        except httpx.HTTPError as error:
            what = f"{where}: POST {PATH}"
            raise await self._lost(unreachable(self._url, what, error)) from error
        except _LostError as error:
            raise await self._lost(error) from error

    def acceptance(self, *, interval: int, attention_dp: bool) -> Acceptance:
        """Read the server's counters since it was opened."""
        return count_drafts(
            self._url,
            self._version,
            self._before,
            ours=self._ours,
            interval=interval,
            attention_dp=attention_dp,
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def conditions(self) -> dict[str, object]:
        """What of it decides the timings."""
        return {"process": "over HTTP, through trtllm-serve", "url": self._url}

    async def _lost(self, seen: RunError) -> RunError:
        """Say how a server of ours ended, if it did; else what was seen of it."""
        end = time.monotonic() + (LAST_BREATH_SECONDS if self._ours else 0)
        while (why := self._why_ended()) is None and time.monotonic() < end:
            await asyncio.sleep(_LOOK_SECONDS)
        return why or seen

    async def _require_accepted(self, reply: httpx.Response, where: str) -> None:
        if reply.status_code == _FOUND:
            return
        content: Any = (await reply.aread()).decode(errors="replace")
        with suppress(ValueError):
            content = reply.json()
        raise RunError(
            f"{where}: the server refuses it with status {reply.status_code}: "
            f"{error_text(content)[:500]}",
            where=self._url,
            action="change the request, or see the server's log",
        )


async def _deltas(reply: httpx.Response, where: str) -> AsyncGenerator[Delta, None]:
    """Read a stream of completion events to its end.

    :raises RunError: if it breaks off, or tokens are missing in it.
    """
    reader, generated = EventReader(), 0
    # httpx has it as an iterator; it is a generator, and closes the connection
    lines = cast("AsyncGenerator[str, None]", reply.aiter_lines())
    async with aclosing(lines):
        async for line in lines:
            data = reader.feed(line)
            if data is None:
                continue
            if data == DONE:
                return
            event = read_event(data, time.perf_counter(), where)
            if event.delta:
                generated += len(event.delta.tokens)
                yield event.delta
            else:
                _require_all(event, generated, where)
    raise _LostError(
        f"the server broke off the stream after {generated} tokens",
        where=where,
        action="see whether trtllm-serve still runs, and what its log says",
    )


def _require_all(event: Event, sent: int, where: str) -> None:
    """Refuse a stream that had fewer tokens than were generated.

    :raises RunError: with both numbers.
    """
    if event.generated is not None and event.generated > sent:
        raise RunError(
            f"the server generated {event.generated} tokens and sent {sent}",
            where=where,
            action="report this to TensorRT-LLM; run in process meanwhile",
        )

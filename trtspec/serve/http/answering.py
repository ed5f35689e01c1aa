"""From engine requests to the answer of one HTTP request, whole or streamed."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from trtspec.errors import TrtspecError, UsageError
from trtspec.run import Chunk, Request
from trtspec.serve.engine import EngineFailedError
from trtspec.serve.http.event_stream import DONE, EventStream, event
from trtspec.serve.http.leaving import unless_gone
from trtspec.serve.http.request_log import Entry
from trtspec.serve.openai.errors import (
    BAD_REQUEST,
    FAILED,
    TOO_LATE,
    UNAVAILABLE,
    RefusalError,
)
from trtspec.serve.openai.fields import Common
from trtspec.serve.service import Service
from trtspec.serve.writing.base import Choice, Head, Writer, usage_of


@dataclass
class Answering:
    """Answers one request; what it holds is given back by ``close``.

    :param requests: one for each answer, in the order of their index.
    :param each: answers per prompt.
    :param place: what admission gave; left when the answer has ended.
    """

    service: Service
    head: Head
    writer: Writer
    requests: Sequence[Request]
    each: int
    entry: Entry
    place: AbstractContextManager[None]

    def __post_init__(self) -> None:
        self._choices = {
            request.id: Choice(index, index // self.each)
            for index, request in enumerate(self.requests)
        }
        self._inside = False

    async def whole(self, http: HttpRequest) -> Response:
        """Answer in one document.

        :raises RefusalError: if there is no answer.
        :raises ClientDisconnect: if nobody waits for it any more.
        """
        try:
            return await unless_gone(http.receive, self._whole())
        finally:
            self.close()

    async def stream(self, http: HttpRequest, body: Common) -> Response:
        """Answer in events; what fails before the first one has its own status.

        :raises RefusalError: if there is no answer.
        :raises ClientDisconnect: if nobody waits for it any more.
        """
        events = self._events(body.usage_wanted, body.usage_everywhere)
        try:
            first = await unless_gone(http.receive, anext(events))
        except BaseException:
            await events.aclose()
            raise
        return EventStream(events, first, self.service.limits.write_seconds)

    def close(self) -> None:
        """Cancel what still runs, and leave the place."""
        for request in self.requests:
            self.service.driver.cancel(request.id)
        if self._inside:
            self._inside = False
            self.place.__exit__(None, None, None)

    async def _whole(self) -> Response:
        async for _ in self._chunks():
            pass
        usage = usage_of(self.head, self._all)
        return Response(
            self.writer.whole(self._all, usage), media_type="application/json"
        )

    async def _events(
        self, usage_wanted: bool, usage_everywhere: bool
    ) -> AsyncGenerator[bytes, None]:
        begun = False
        try:
            async for choice, chunk in self._chunks():
                usage = usage_of(self.head, self._all) if usage_everywhere else None
                if (piece := self.writer.piece(choice, chunk, usage)) is not None:
                    begun = True
                    yield event(piece)
            if usage_wanted:
                yield event(self.writer.last(usage_of(self.head, self._all)))
            yield DONE
        except RefusalError as refusal:
            if not begun:
                raise
            self.entry.outcome, self.entry.reason = "failed", refusal.message
            self.service.metrics.failed(str(refusal.status))
            yield event(refusal.document.model_dump_json())
        finally:
            self.close()

    async def _chunks(self) -> AsyncGenerator[tuple[Choice, Chunk], None]:
        """Send the requests to the engine, and give what comes, each with its choice.

        :raises RefusalError: if one of them fails, or it takes too long.
        """
        self.place.__enter__()
        self._inside = True
        deadline = time.monotonic() + self.service.limits.request_seconds
        try:
            stream = self.service.driver.submit(*self.requests)
            async for chunk in stream.chunks(deadline):
                choice = self._choices[chunk.request_id]
                choice.take(chunk)
                if chunk.completion is not None:
                    self.entry.completions.append(chunk.completion)
                    if chunk.completion.finish_reason == "cancelled":
                        raise _stopped()
                yield choice, chunk
        except TimeoutError:
            raise _too_late(self.service.limits.request_seconds) from None
        except TrtspecError as error:
            raise _refusal(error) from error

    @property
    def _all(self) -> list[Choice]:
        return list(self._choices.values())


def _stopped() -> RefusalError:
    return RefusalError(
        UNAVAILABLE,
        "the server ends, and this request was not done in time",
        code="draining",
        headers={"Retry-After": "5"},
    )


def _too_late(seconds: float) -> RefusalError:
    return RefusalError(
        TOO_LATE,
        f"the request was not done after {seconds:g} s and was cancelled; ask for "
        "fewer tokens, or come again when there is less to do",
        code="timeout",
    )


def _refusal(error: TrtspecError) -> RefusalError:
    problem = error.problems[0]
    parts = (problem.what, problem.allowed and f"allowed: {problem.allowed}")
    words = "; ".join(filter(None, (*parts, problem.action)))
    if isinstance(error, UsageError):
        return RefusalError(BAD_REQUEST, words)
    code = "engine_failed" if isinstance(error, EngineFailedError) else None
    return RefusalError(FAILED, words, code=code)

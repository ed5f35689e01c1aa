"""From one request of a client to the answer of a server, whole or streamed."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from trtspec.run import Completion
from trtspec.run.types import FinishReason
from trtspec.serve.http.event_stream import EventStream
from trtspec.serve.http.leaving import unless_gone
from trtspec.serve.http.request_log import Entry
from trtspec.serve.openai.errors import BAD_GATEWAY, FAILED, RefusalError
from trtspec.serve.proxy.annotating import Account, Annotator
from trtspec.serve.proxy.asking import usage_everywhere, usage_wanted
from trtspec.serve.proxy.events import EventSplitter
from trtspec.serve.proxy.metrics import PoolMetrics
from trtspec.serve.proxy.pool import Pool
from trtspec.serve.proxy.stopping import Stopper, stops_of
from trtspec.serve.proxy.upstream import LostError, Upstream, lost, pieces, whole


@dataclass(frozen=True, slots=True)
class Sent:
    """A request on its way to a server.

    :param body: as the client wrote it, without our own field.
    :param document: as it is sent.
    :param why: the rule by which it goes there.
    :param choices: answers that it asks for.
    :param headers: of the client.
    :param shown: headers of the answer.
    """

    pool: Pool
    why: str
    path: str
    body: Mapping[str, Any]
    document: Mapping[str, Any]
    choices: int
    lossy: str
    headers: Mapping[str, str]
    shown: Mapping[str, str]


class Answering:
    """Answers one request, and notes what became of it."""

    def __init__(
        self, upstream: Upstream, metrics: PoolMetrics, sent: Sent, entry: Entry
    ) -> None:
        self._upstream, self._metrics = upstream, metrics
        self._sent, self._entry = sent, entry
        self._began = time.perf_counter()
        self._annotator = Annotator(
            sent.pool.method,
            sent.lossy,
            choices=sent.choices,
            usage_wanted=usage_wanted(sent.body),
        )
        stops = stops_of(sent.body)
        self._stopper = None
        if stops:
            self._stopper = Stopper(
                stops,
                choices=sent.choices,
                usage_wanted=usage_wanted(sent.body),
                usage_everywhere=usage_everywhere(sent.body),
            )

    async def whole(self, http: HttpRequest) -> Response:
        """Answer in one document.

        :raises RefusalError: if there is no answer.
        :raises ClientDisconnect: if nobody waits for it any more; the server's part
            was ended.
        """
        return await unless_gone(http.receive, self._whole())

    async def stream(self, http: HttpRequest, write_seconds: float) -> Response:
        """Answer in events; what fails before the first one has a status of its own.

        :raises RefusalError: if there is no answer.
        :raises ClientDisconnect: if nobody waits for it any more.
        """
        events = self._events()
        try:
            first = await unless_gone(http.receive, anext(events))
        except BaseException:
            await events.aclose()
            raise
        return EventStream(events, first, write_seconds, self._sent.shown)

    async def _whole(self) -> Response:
        sent = self._sent
        with sent.pool.admission.enter(sent.choices):
            try:
                async with self._post() as reply:
                    content = await whole(sent.pool, reply)
                if self._stopper:
                    content = self._stopper.whole(content)
                document = self._annotator.whole(content)
            finally:
                self._settle()
        return Response(
            json.dumps(document, separators=(",", ":")),
            media_type="application/json",
            headers=dict(sent.shown),
        )

    async def _events(self) -> AsyncGenerator[bytes, None]:
        sent, annotator, begun = self._sent, self._annotator, False
        with sent.pool.admission.enter(sent.choices):
            try:
                async with aclosing(self._received()) as events:
                    async for event in events:
                        begun = True
                        yield event
            except RefusalError as refusal:
                if not begun:
                    raise
                for event in annotator.broken(refusal):
                    yield event
            finally:
                self._settle(begun=begun)

    async def _received(self) -> AsyncGenerator[bytes, None]:
        """Give what to send on, as the server's events come.

        :raises RefusalError: if they break off.
        """
        sent, annotator, splitter = self._sent, self._annotator, EventSplitter()
        stopper = self._stopper
        begun = False
        try:
            async with self._post() as reply, aclosing(pieces(reply)) as arriving:
                async for piece in arriving:
                    # several events may have come at once: one write for all
                    ready = [
                        part
                        for event in splitter.feed(piece)
                        for cut in (stopper.event(event) if stopper else (event,))
                        for part in annotator.event(cut)
                    ]
                    if annotator.account.failed and not begun and len(ready) == 1:
                        raise RefusalError(FAILED, annotator.account.failed)
                    if ready:
                        begun = True
                        yield b"".join(ready)
                    if annotator.account.failed or (stopper and stopper.ended):
                        return
        except LostError as error:
            raise lost(sent.pool, str(error)) from None
        except ValueError as error:
            raise RefusalError(BAD_GATEWAY, f"no stream of events: {error}") from None
        if not annotator.account.done:
            raise lost(sent.pool, "the stream ended early")

    def _post(self) -> Any:
        sent = self._sent
        return self._upstream.post(sent.pool, sent.path, sent.document, sent.headers)

    def _settle(self, *, begun: bool = False) -> None:
        """Count the request, and note it for the log."""
        account, entry = self._annotator.account, self._entry
        if account.failed:
            entry.outcome, entry.reason = "failed", account.failed
            if begun:  # what fails before has a status, and is counted by that
                self._metrics.failed(str(BAD_GATEWAY))
            return
        if account.done:
            entry.reason = f"pool {self._sent.pool.name} by {self._sent.why}"
        if account.done or begun:
            for completion in completions(account, entry.id, self._began):
                entry.completions.append(completion)
                self._metrics.finished(completion)


def completions(account: Account, name: str, began: float) -> list[Completion]:
    """Tell the answers of a request, as far as the server told of them.

    The first one has all token counts: a server tells those of a whole request.

    :param began: ``time.perf_counter`` seconds at which it arrived.
    """
    first = Completion(
        name,
        account.prompt_tokens or 0,
        [0] * (account.completion_tokens or 0),
        finish_reason="cancelled",
        submitted_at=began,
        first_token_at=account.first_at,
        last_token_at=account.last_at,
        steps=account.steps or 0,
        accepted=account.accepted or 0,
    )
    reasons = list(map(_reason, account.finished.values()))
    if not account.done or not reasons:
        return [first]
    first.finish_reason = reasons[0]
    rest = [Completion(name, 0, finish_reason=reason) for reason in reasons[1:]]
    return [first, *rest]


def _reason(said: str) -> FinishReason:
    """Give a finish reason of ours; tool calls are a stop, too."""
    return "length" if said == "length" else "stop"

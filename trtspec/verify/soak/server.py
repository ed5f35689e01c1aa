"""How a server is kept busy over HTTP, and how many tokens each step brings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from trtspec.bench.http.answer import GAVE_UP, require_stream
from trtspec.bench.http.drafts import whole_number
from trtspec.bench.http.reply import Reply, read_events
from trtspec.bench.http.sending import closed_loop
from trtspec.bench.http.stream import Answer, AnswerError
from trtspec.bench.http.transport import Post
from trtspec.errors import RunError
from trtspec.verify.arm import Question
from trtspec.verify.soak.pace import pace_of, pace_of_requests
from trtspec.verify.soak.record import Pace

Body = Callable[[Question], bytes]
REFUSED = (400, 413, 422, 429, 503)
"""Statuses by which a server says that a request is too long, or one too many."""


class RefusedError(Exception):
    """The server did not take a request; the message has its status."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One answer.

    :param tokens: of the output.
    :param steps: verification steps; None if the server does not tell.
    :param drafted: draft tokens; None if the server does not tell.
    :param chunks: clock seconds and tokens of each event of the stream; None for what
        is not told. Events that arrive together are counted apart: a server sends one
        per step, however late it reaches us.
    """

    tokens: int
    steps: int | None
    drafted: int | None
    chunks: tuple[tuple[float, int | None], ...]

    @property
    def counts(self) -> list[int] | None:
        """Tokens of each chunk; None if they are not told."""
        known = [count for _, count in self.chunks if count is not None]
        return known if len(known) == len(self.chunks) else None


def seen_in(reply: Reply) -> Seen:
    """Read a reply.

    :raises RefusedError: if the server did not take the request.
    :raises AnswerError: if it is no whole answer.
    """
    if reply.status in REFUSED:
        raise RefusedError(f"status {reply.status}")
    require_stream(reply)
    stream, chunks = Answer(), list[tuple[float, int | None]]()
    for event in read_events(reply.arrivals):
        ids, texts = len(stream.ids), len(stream.texts)
        stream.take(event)
        if len(stream.ids) > ids or len(stream.texts) > texts:
            chunks.append((event.time, len(stream.ids) - ids))
    if not (stream.finish or stream.done):
        raise AnswerError(f"broke off: {reply.broken or 'no finish reason, no [DONE]'}")
    if stream.finish in GAVE_UP:
        raise AnswerError(f"the server gave it up: finish reason {stream.finish}")
    tokens = whole_number(stream.usage.get("completion_tokens")) or len(stream.ids)
    drafts = stream.told.drafts(stream.usage, tokens)
    if len(stream.ids) != tokens:
        chunks = [(time, None) for time, _ in chunks]
    return Seen(tokens, drafts.steps, drafts.drafted, tuple(chunks))


def pace_in(answers: Sequence[Seen]) -> Pace:
    """Describe the steps of some answers, by what the server tells of them.

    Tokens and steps of each answer, where they are told; else tokens per chunk; else
    chunks stand for steps.
    """
    if all(one.steps is not None for one in answers):
        return pace_of_requests([(o.tokens - 1, o.steps or 0) for o in answers])
    counts = [one.counts for one in answers]
    if all(counts):
        return pace_of([n for some in counts for n in (some or [])[1:-1] if n])
    return pace_of_requests([(o.tokens - 1, len(o.chunks) - 1) for o in answers])


def drafted_in(answers: Sequence[Seen]) -> int | None:
    """Count what was drafted for some answers; None if one of them does not tell."""
    known = [one.drafted for one in answers if one.drafted is not None]
    return sum(known) if len(known) == len(answers) else None


class ServerDriver:
    """Sends requests to one server.

    :param post: see ``trtspec.bench.http.transport``.
    :param body: writes a question as the server takes it.
    """

    def __init__(self, post: Post, body: Body) -> None:
        self._post = post
        self._body = body

    async def one(self, question: Question, tokens: int) -> Seen:
        """Ask once; a task that is cancelled closes its connection.

        :raises RefusedError: if the server did not take the request.
        :raises AnswerError: if it is no whole answer.
        """
        body = self._body(replace(question, max_tokens=tokens))
        reply = await self._post(body)
        if not reply.status:  # a kept connection that the server had closed
            reply = await self._post(body)
        return seen_in(reply)

    async def keep(
        self, questions: Sequence[Question], tokens: int, at_once: int
    ) -> list[Seen]:
        """Ask all, with so many in flight.

        :raises RunError: if one of them fails.
        """
        found: dict[int, Seen] = {}

        async def send(index: int, due: float | None) -> None:
            question = questions[index]
            try:
                found[index] = await self.one(question, tokens)
            except (AnswerError, RefusedError) as error:
                raise RunError(
                    f"the request failed with {at_once} in flight: {error}",
                    where=question.id,
                ) from error

        await closed_loop(send, len(questions), at_once)
        return [found[index] for index in range(len(questions))]

    def begin(self, question: Question, tokens: int) -> asyncio.Task[Seen]:
        """Ask, and go on meanwhile."""
        return asyncio.ensure_future(self.one(question, tokens))

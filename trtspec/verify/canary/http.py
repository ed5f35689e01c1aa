"""How a canary talks to a server that speaks OpenAI's API."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from trtspec.bench.http.answer import require_stream
from trtspec.bench.http.drafts import whole_number
from trtspec.bench.http.probe import Server
from trtspec.bench.http.reply import Reply, read_events
from trtspec.bench.http.sending import closed_loop
from trtspec.bench.http.stream import Answer, AnswerError
from trtspec.bench.http.transport import open_transport
from trtspec.errors import RunError
from trtspec.verify.canary.talk import Ask, Heard

_FOUND = 200
_SILENCE = 60.0


class HttpTalker:
    """Talks to one server; a ``Talker``.

    :param silence: seconds without a byte after which a reply is given up.
    """

    def __init__(self, server: Server, silence: float = _SILENCE) -> None:
        self._server = server
        self._silence = silence

    def say(self, asks: Sequence[Ask], concurrency: int) -> dict[str, Heard]:
        """Give all answers; see ``Talker``."""
        bodies = [json.dumps(body_of(ask, self._server)).encode() for ask in asks]
        replies = asyncio.run(self._send(bodies, concurrency))
        return {
            ask.id: self._read(ask, reply)
            for ask, reply in zip(asks, replies, strict=True)
        }

    async def _send(self, bodies: Sequence[bytes], concurrency: int) -> list[Reply]:
        address = self._server.address
        url = address.endpoint(self._server.api)
        replies = [Reply() for _ in bodies]
        clock = time.perf_counter
        async with open_transport(address, url, clock, self._silence) as post:

            async def send(index: int, due: float | None) -> None:
                replies[index] = await post(bodies[index])

            await closed_loop(send, len(bodies), concurrency)
        return replies

    def _read(self, ask: Ask, reply: Reply) -> Heard:
        try:
            return read_stream(ask, reply) if ask.stream else read_whole(ask, reply)
        except AnswerError as error:
            where = self._server.address.url
            raise RunError(f"the request failed: {error}", where=where) from error


def body_of(ask: Ask, server: Server) -> dict[str, Any]:
    """Write a greedy request."""
    body: dict[str, Any] = {
        "model": server.model,
        "max_tokens": ask.max_tokens,
        "temperature": 0.0,
        "stream": ask.stream,
    }
    if ask.stream:
        body["stream_options"] = {"include_usage": True}
    if ask.stop:
        body["stop"] = list(ask.stop)
    prompt = ask.prompt if isinstance(ask.prompt, str) else list(ask.prompt)
    if server.api == "chat":
        said: list[dict[str, Any]] = [dict(message) for message in ask.messages]
        return body | {"messages": said or [{"role": "user", "content": prompt}]}
    texts = "\n\n".join(message["content"] for message in ask.messages)
    return body | {"prompt": texts or prompt}


def read_stream(ask: Ask, reply: Reply) -> Heard:
    """Read a stream of events.

    :raises AnswerError: if it is none, or broke off.
    """
    require_stream(reply)
    answer = Answer()
    for event in read_events(reply.arrivals):
        answer.take(event)
    if not (answer.finish or answer.done):
        raise AnswerError(f"broke off: {reply.broken or 'no finish reason'}")
    ids = tuple(answer.ids) if answer.ids else None
    return _heard(ask, tuple(answer.texts), answer.finish, answer.usage, ids)


def read_whole(ask: Ask, reply: Reply) -> Heard:
    """Read an answer in one piece.

    :raises AnswerError: if it is none.
    """
    if reply.status != _FOUND or reply.broken:
        told = reply.content.decode(errors="replace")[:300]
        raise AnswerError(f"status {reply.status}: {reply.broken or told}")
    try:
        content = json.loads(reply.content)
        choice: Mapping[str, Any] = content["choices"][0]
        message: Mapping[str, Any] = choice.get("message") or {}
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise AnswerError("an answer of another form") from error
    thought = message.get("reasoning_content") or message.get("reasoning")
    parts = (thought, message.get("content"), choice.get("text"))
    text = "".join(part for part in parts if isinstance(part, str))
    finish = str(choice.get("finish_reason") or "")
    return _heard(ask, (text,), finish, content.get("usage") or {}, None)


def _heard(
    ask: Ask,
    pieces: tuple[str, ...],
    finish: str,
    usage: Mapping[str, Any],
    ids: tuple[int, ...] | None,
) -> Heard:
    return Heard(
        id=ask.id,
        pieces=pieces,
        finish=finish,
        tokens=ids,
        prompt_tokens=whole_number(usage.get("prompt_tokens")),
        completion_tokens=whole_number(usage.get("completion_tokens")),
        total_tokens=whole_number(usage.get("total_tokens")),
    )

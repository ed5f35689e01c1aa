"""From a server's reply to an answer: text, token ids, likeliest tokens, drafts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trtspec.bench.http.answer import GAVE_UP, require_stream
from trtspec.bench.http.drafts import whole_number
from trtspec.bench.http.reply import Event, Reply, read_events
from trtspec.bench.http.stream import Answer as Stream
from trtspec.bench.http.stream import AnswerError
from trtspec.verify.arm import Answer

Alternatives = tuple[tuple[int | str, float], ...]
_NUMBERED = re.compile(r"token_id:(\d+)")
"""How vLLM writes tokens that it is asked to write as ids."""


@dataclass(frozen=True, slots=True)
class Place:
    """What is told of one token.

    :param token: its id, if it is told.
    :param likeliest: alternatives, by text; by id where that is written in its place.
    """

    piece: str
    token: int | None
    likeliest: Alternatives


@dataclass(slots=True)
class Places:
    """What a stream has told so far of its tokens, one by one.

    :ivar timings: of llama.cpp's server, with ``draft_n`` and ``draft_n_accepted``
        where it drafted (seen in answers of its build 11549).
    """

    seen: list[Place] = field(default_factory=list)
    timings: Mapping[str, Any] = field(default_factory=dict)

    def take(self, event: Event) -> None:
        """Read an event; what tells nothing of tokens is skipped."""
        try:
            content = json.loads(event.data)
            if isinstance(timings := content.get("timings"), Mapping):
                self.timings = timings
            told = content["choices"][0]["logprobs"]
        except (ValueError, LookupError, TypeError, AttributeError):
            return
        if isinstance(told, Mapping):
            self.seen += _chat(told) if told.get("content") else _legacy(told)


def read_reply(question_id: str, reply: Reply, *, off: bool) -> Answer:
    """Read a reply.

    :param off: whether it came from an arm that must not draft.
    :raises AnswerError: if it is no whole answer, or an off arm drafted.
    """
    require_stream(reply)
    stream, places = Stream(), Places()
    for event in read_events(reply.arrivals):
        stream.take(event)
        places.take(event)
    if not (stream.finish or stream.done):
        raise AnswerError(f"broke off: {reply.broken or 'no finish reason, no [DONE]'}")
    if stream.finish in GAVE_UP:
        raise AnswerError(f"the server gave it up: finish reason {stream.finish}")
    count = whole_number(stream.usage.get("completion_tokens"))
    drafts = stream.told.drafts(stream.usage, count or 0)
    drafted, accepted = drafts.drafted, drafts.accepted
    if drafted is None:
        drafted = whole_number(places.timings.get("draft_n"))
        accepted = whole_number(places.timings.get("draft_n_accepted"))
    if off and (drafted or accepted):
        raise AnswerError("drafted although this server is the off arm")
    text = "".join(stream.texts)
    told = places.seen if _whole(places.seen, text, count) else []
    return Answer(
        id=question_id,
        tokens=_ids(stream.ids, told, count),
        text=text,
        finish=stream.finish,
        drafted=drafted,
        accepted=accepted,
        steps=drafts.steps,
        logprobs=tuple(place.likeliest for place in told) if told else None,
        pieces=tuple(place.piece for place in told) if told else None,
        prompt_tokens=whole_number(stream.usage.get("prompt_tokens")),
    )


def _whole(places: list[Place], text: str, count: int | None) -> bool:
    """Whether every token of a text has its place.

    Pieces need not make the text: half a character, or the end, has none. llama.cpp's
    server tells nothing of tokens that come out of a draft (seen in its build 11549),
    so that the places of what follows would be wrong.
    """
    joined = "".join(place.piece for place in places)
    return joined == text or len(places) == count


def _ids(
    ids: list[int], places: list[Place], count: int | None
) -> tuple[int, ...] | None:
    """Give all token ids; None where some are missing."""
    if ids and count in (None, len(ids)):
        return tuple(ids)
    numbered = [place.token for place in places if place.token is not None]
    return tuple(numbered) if places and len(numbered) == len(places) else None


def _chat(told: Mapping[str, Any]) -> Iterator[Place]:
    """Read the layout of OpenAI's chat: an object per token."""
    for entry in told["content"]:
        if isinstance(entry, Mapping) and isinstance(entry.get("token"), str):
            top = entry.get("top_logprobs") or entry.get("top_probs") or ()
            yield Place(entry["token"], _number(entry), _likeliest(top, entry))


def _likeliest(top: Iterable[object], chosen: Mapping[str, Any]) -> Alternatives:
    """Give the alternatives and the chosen token, the likeliest first."""
    rows = [row for row in top if isinstance(row, Mapping)]
    found: dict[int | str, float] = {}
    for row in (*rows, chosen):
        value = row.get("logprob")
        if isinstance(row.get("token"), str) and isinstance(value, int | float):
            found.setdefault(_named(row["token"]), float(value))
    return _sorted(found)


def _number(row: Mapping[str, Any]) -> int | None:
    """Give a token's id: llama.cpp tells it beside the text, vLLM in its place."""
    if (number := whole_number(row.get("id"))) is not None:
        return number
    written = _NUMBERED.fullmatch(str(row.get("token")))
    return int(written[1]) if written else None


def _legacy(told: Mapping[str, Any]) -> Iterator[Place]:
    """Read the layout of OpenAI's completions: parallel lists."""
    tokens = told.get("tokens") or ()
    values = told.get("token_logprobs") or ()
    tops = told.get("top_logprobs") or [{}] * len(tokens)
    for token, value, top in zip(tokens, values, tops, strict=False):
        found = {
            _named(name): float(logprob)
            for name, logprob in (top or {}).items()
            if isinstance(logprob, int | float)
        }
        if isinstance(value, int | float):
            found.setdefault(_named(token), float(value))
        name = _named(token)
        yield Place(str(token), name if isinstance(name, int) else None, _sorted(found))


def _named(token: object) -> int | str:
    written = _NUMBERED.fullmatch(str(token))
    return int(written[1]) if written else str(token)


def _sorted(found: Mapping[int | str, float]) -> Alternatives:
    return tuple(sorted(found.items(), key=lambda item: -item[1]))

"""From the bytes of a reply and their times to the outcome of a request.

Nothing here waits or looks at a clock, so that exact times can be tested.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass

from trtspec.bench.driver import Call
from trtspec.bench.http.drafts import Drafts, whole_number
from trtspec.bench.http.reply import Reply, read_events
from trtspec.bench.http.stream import LONGEST, Answer, AnswerError, shown
from trtspec.bench.http.words import message_in, plain, whole
from trtspec.bench.outcome import Failed, Outcome

NOT_TOLD = "not told"
"""Finish reason of a stream that ended in order without one."""
_FOUND = 200
GAVE_UP = frozenset({"abort", "cancelled", "error", "timeout"})
"""Finish reasons of vLLM, SGLang and TensorRT-LLM for requests that were given up."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One request, and when it was sent.

    :param due_at: clock seconds at which it was to be sent; see ``Outcome``.
    :param off: whether it went to a server that is said to decode without drafting.
    """

    call: Call
    due_at: float
    sent_at: float
    off: bool = False


def read_answer(sent: Sent, reply: Reply) -> Outcome | Failed:
    """Read a reply.

    The first token is there with the first event that has text: one with only a role
    is none. The last is there with the last event that has text or the finish reason,
    because the end-of-sequence token, which has no text, counts in the usage and came
    with the latter. Events without either are no chunks; those that arrive together
    are one, because nothing says when each was made.
    """
    try:
        require_stream(reply)
        answer = _taken(reply)
        tokens = _require_whole(answer, reply)
        drafts = answer.told.drafts(answer.usage, tokens)
        _require_as_asked(sent, tokens, drafts)
    except AnswerError as error:
        return Failed(sent.call.id, plain(str(error)))
    return Outcome(
        request_id=sent.call.id,
        due_at=sent.due_at,
        sent_at=sent.sent_at,
        chunks=answer.chunks(tokens),
        prompt_tokens=whole_number(answer.usage.get("prompt_tokens")) or None,
        output_tokens=tokens,
        finish_reason=plain(answer.finish[:LONGEST]) or NOT_TOLD,
        text=whole("".join(answer.texts)),
        tokens=tuple(answer.ids) if len(answer.ids) == tokens else None,
        steps=drafts.steps,
        drafted=drafts.drafted,
        accepted=drafts.accepted,
        draft_steps=drafts.draft_steps,
        lossy=plain(drafts.lossy[:LONGEST]),
    )


def _taken(reply: Reply) -> Answer:
    """Take every event; half a one, at which the reply broke off, is none.

    :raises AnswerError: for an event that is none.
    """
    answer = Answer()
    events = list(read_events(reply.arrivals))
    if events and reply.broken and not reply.arrivals[-1][1].endswith(b"\n"):
        events.pop()
    for event in events:
        answer.take(event)
    return answer


def require_stream(reply: Reply) -> None:
    """Refuse what is no stream of events.

    :raises AnswerError: with what it is.
    """
    if not reply.status:
        raise AnswerError(reply.broken or "the server sent nothing")
    if reply.status != _FOUND:
        raise AnswerError(
            f"the server refuses it with status {reply.status} {reply.reason}".rstrip()
            + _reason(reply.content)
        )
    if reply.kind == "application/json":
        raise AnswerError(
            "the server answered in one piece although stream: true was asked for; "
            "without a stream nothing says when each token was there"
        )


def _reason(content: bytes) -> str:
    """Find the message in the answer to a request that is refused."""
    text = content.decode(errors="replace").strip()
    with suppress(ValueError, RecursionError):
        text = message_in(json.loads(text))
    return f": {text[:LONGEST]}" if text else ""


def _require_whole(answer: Answer, reply: Reply) -> int:
    """Give the tokens of the output.

    :raises AnswerError: if the stream broke off, or does not tell them.
    """
    ended = answer.finish or answer.done
    tokens = whole_number(answer.usage.get("completion_tokens"))
    if reply.broken and not (ended and tokens):
        raise AnswerError(_broke_off(answer, reply.broken))
    if not answer.arrived and not ended:
        raise AnswerError(f"the server sent no events, but: {shown(reply.content)}")
    if not ended:
        raise AnswerError(
            _broke_off(answer, "the stream ended without a finish reason and [DONE]")
        )
    if answer.finish in GAVE_UP:
        raise AnswerError(f"the server gave it up: finish reason {answer.finish}")
    if tokens is None:
        raise AnswerError(
            "the server told no usage at the end of the stream; it must support "
            "stream_options: {include_usage: true}, because tokens are not counted by "
            "chunks, which may hold several"
        )
    if not tokens or not answer.arrived:
        raise AnswerError("emitted no token")
    return tokens


def _broke_off(answer: Answer, why: str) -> str:
    chunks = len(answer.arrived)
    return f"broke off after {chunks} chunk{'' if chunks == 1 else 's'}: {why}"


def _require_as_asked(sent: Sent, tokens: int, drafts: Drafts) -> None:
    """Refuse an answer to another question than was asked.

    :raises AnswerError: with both.
    """
    call = sent.call
    if call.ignore_end and tokens != call.output_tokens:
        raise AnswerError(
            f"has {tokens} tokens, but {call.output_tokens} were asked for with "
            "ignore_eos: true, an extension that vLLM, TensorRT-LLM and SGLang have; "
            "without it output lengths cannot be fixed"
        )
    if sent.off and drafts.any:
        raise AnswerError(
            f"drafted {drafts.drafted or drafts.accepted} tokens or more although this "
            "server is the off arm"
        )

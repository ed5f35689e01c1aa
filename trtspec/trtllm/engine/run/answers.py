"""What an engine answers to a request, out of the bindings' own objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """One response of the executor.

    :param tokens: those that are new since the request's last answer.
    :param logits: [tokens, vocabulary] of a draft; None unless asked for.
    :param finish: why the engine ended the request, such as END_ID; empty if it did
        not say.
    :param result: the binding's own result, for its statistics; None with an error.
    """

    tokens: tuple[int, ...] = ()
    final: bool = False
    error: str = ""
    logits: Any = None
    finish: str = ""
    result: Any = None


NO_ANSWER = Answer()
END = "END_ID"
ENDED = (END, "STOP_WORDS")
"""Why an engine ends a request by itself, other than for its length."""


def whole_tokens(answer: Answer, end_id: int | None) -> tuple[int, ...]:
    """Give an answer's tokens with the end token, which the runtime leaves out.

    It generated that token, but does not count it to the output; a stop word it does
    (cpp/tensorrt_llm/kernels, sampling: no sequence grows by its end token).
    """
    left_out = answer.finish == END and answer.tokens[-1:] != (end_id,)
    return (
        (*answer.tokens, end_id) if left_out and end_id is not None else answer.tokens
    )


def read_answer(response: Any) -> Answer:
    """Read a response of the bindings."""
    if response.has_error():
        return Answer(final=True, error=str(response.error_msg) or "no message")
    result = response.result
    logits = result.generation_logits
    reasons = result.finish_reasons
    return Answer(
        tokens=tuple(result.output_token_ids[0]) if result.output_token_ids else (),
        final=bool(result.is_final),
        logits=None if logits is None else logits[0],
        finish=getattr(reasons[0], "name", str(reasons[0])) if reasons else "",
        result=result,
    )


def joined(parts: Sequence[Answer]) -> Answer:
    """Make one answer of all that a request got."""
    last = parts[-1]
    return Answer(
        tokens=tuple(token for part in parts for token in part.tokens),
        final=last.final,
        error=last.error,
        logits=last.logits,
        finish=last.finish,
        result=last.result,
    )

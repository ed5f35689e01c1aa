"""Does a server that says it is ready generate text that could be right."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trtspec.errors import RunError
from trtspec.trtllm.pytorch.launch.address import Address
from trtspec.trtllm.pytorch.launch.http_client import Answer, ask

Messages = Sequence[Mapping[str, str]]
SENTENCE = ({"role": "user", "content": "Name three rivers and the seas they end in."},)
"""What is asked if the recipe has no workload."""
MAX_TOKENS = 32
_PIECES = range(1, 9)
_TIMES = 8
"""A text is suspect if it is one piece of so many characters, so many times."""
_HEALTHY_PART = 4
"""Behind this fraction of a text, its end is looked at by itself."""
_NO_TEMPLATE = 400


@dataclass(frozen=True, slots=True)
class Canary:
    """What came back for one greedy request.

    :param tokens: tokens of the output, as the server counts them; None if it does not.
    :param seconds: until the whole answer was there; information, not a measurement.
    :param tokens_per_step: ``avg_decoded_tokens_per_iter``, 1.0 if nothing was
        accepted; None if this server does not tell.
    """

    text: str
    tokens: int | None
    seconds: float
    tokens_per_step: float | None


def run_canary(
    address: Address,
    model: str,
    messages: Messages,
    timeout: float,
    max_tokens: int = MAX_TOKENS,
) -> Canary:
    """Send one greedy request and look at the text.

    A model without a chat template gets the last message as it is.

    :param model: the name that the server goes by.
    :param messages: the prompt.
    :param timeout: seconds without a sign of life.
    :param max_tokens: most tokens to generate.
    :raises RunError: if there is no answer, no text, or one piece of text repeated.
    """
    began = time.monotonic()
    settings = {"model": model, "max_tokens": max_tokens, "temperature": 0.0}
    answer = _generate(address, settings, messages, timeout)
    seconds = time.monotonic() - began
    if answer is None:
        raise _failed("no answer")
    if not answer.ok:
        raise _failed(f"status {answer.status}: {answer.text.strip()[:300]}")
    canary = _read(answer, seconds)
    if fault := text_fault(canary.text):
        raise _failed(fault)
    return canary


def _generate(
    address: Address, settings: dict[str, Any], messages: Messages, timeout: float
) -> Answer | None:
    chat = settings | {"messages": [dict(message) for message in messages]}
    answer = ask(address, "/v1/chat/completions", timeout=timeout, body=chat)
    if answer is None or answer.status != _NO_TEMPLATE:
        return answer
    plain = settings | {"prompt": messages[-1]["content"]}
    return ask(address, "/v1/completions", timeout=timeout, body=plain)


def _read(answer: Answer, seconds: float) -> Canary:
    content = answer.json()
    try:
        choice: dict[str, Any] = content["choices"][0]
        usage: dict[str, Any] = content.get("usage") or {}
        message: dict[str, Any] = choice.get("message") or {}
    except (KeyError, IndexError, TypeError, AttributeError):
        raise _failed(f"an answer of another form: {answer.text[:300]}") from None
    parts = (message.get("reasoning_content"), message.get("content"))
    text = choice.get("text") or "".join(part for part in parts if part)
    return Canary(
        text,
        usage.get("completion_tokens"),
        seconds,
        choice.get("avg_decoded_tokens_per_iter"),
    )


def text_fault(text: str) -> str:
    """Say what is wrong with a text; empty if nothing is to be seen.

    Broken logits or a wrong checkpoint show as one token over and over (issue 8713 of
    NVIDIA/TensorRT-LLM); a token of more than eight characters is not noticed.
    """
    if not text.strip():
        return "empty text"
    whole = text.strip()
    if any(_repeats(whole, length) for length in _PIECES):
        return f"one piece of text repeated: {whole[:40]!r}"
    end = whole[len(whole) // _HEALTHY_PART :]  # the prefill's token may be right
    if any(_repeats(end, length) for length in _PIECES):
        return f"it ends in one piece of text repeated: {whole[:40]!r}"
    return ""


def _repeats(text: str, length: int) -> bool:
    """Whether a text is its first characters again and again."""
    return len(text) >= _TIMES * length and text[length:] == text[:-length]


def _failed(what: str) -> RunError:
    return RunError(
        f"the canary, one greedy request, failed: {what}",
        action="check the checkpoints and the drafter; --no-canary serves all the same",
    )

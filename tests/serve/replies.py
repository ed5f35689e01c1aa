"""What a client reads of answers, whole or streamed, in one form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

Logprob = tuple[str, float, tuple[tuple[str, float], ...]]
"""A token's text, its log-probability, and the likeliest tokens', by text."""


@dataclass
class Read:
    """One answer, put together.

    :ivar chunks: token ids of each event.
    """

    text: str = ""
    tokens: list[int] = field(default_factory=list)
    logprobs: list[Logprob] = field(default_factory=list)
    finish: str | None = None
    figures: dict | None = None
    chunks: list[list[int]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    prompt: list[int] | None = None


@dataclass
class Reply:
    """All that came back for one request."""

    status: int
    answers: list[Read] = field(default_factory=list)
    usage: dict | None = None
    error: dict | None = None
    ended: bool = False
    documents: list[dict] = field(default_factory=list)


def read_reply(status: int, content: str, stream: bool) -> Reply:
    """Read an answer's body."""
    if status != 200 or not stream:
        document = json.loads(content)
        reply = Reply(status, documents=[document], ended=True)
        reply.error = document.get("error")
    else:
        data = events(content)
        reply = Reply(status, ended=bool(data) and data[-1] == "[DONE]")
        reply.documents = [json.loads(one) for one in data if one != "[DONE]"]
    for document in reply.documents:
        _take(reply, document)
    return reply


def events(text: str) -> list[str]:
    """The data of server-sent events."""
    blocks = [block for block in text.split("\n\n") if block]
    assert all(block.startswith("data: ") for block in blocks), blocks
    assert all("\n" not in block for block in blocks)
    return [block.removeprefix("data: ") for block in blocks]


def _take(reply: Reply, document: dict) -> None:
    reply.error = document.get("error") or reply.error
    reply.usage = document.get("usage") or reply.usage
    for choice in document.get("choices", ()):
        while len(reply.answers) <= choice["index"]:
            reply.answers.append(Read())
        _add(reply.answers[choice["index"]], choice)


def _add(read: Read, choice: dict) -> None:
    assert read.finish is None, "nothing comes behind the end of an answer"
    message = choice.get("message") or choice.get("delta")
    text = choice["text"] if message is None else message["content"]
    read.text += text
    read.texts.append(text)
    read.tokens += choice.get("token_ids") or []
    read.chunks.append(choice.get("token_ids") or [])
    read.logprobs += _logprobs(choice.get("logprobs"))
    read.finish = choice["finish_reason"]
    read.figures = choice.get("speculation")
    read.prompt = choice.get("prompt_token_ids") or read.prompt


def _logprobs(found: dict | None) -> Sequence[Logprob]:
    if found is None:
        return []
    if "content" in found:
        return [
            (
                one["token"],
                one["logprob"],
                _top((t["token"], t["logprob"]) for t in one["top_logprobs"]),
            )
            for one in found["content"]
        ]
    columns = (found["tokens"], found["token_logprobs"], found["top_logprobs"])
    return [
        (token, value, _top(top.items()))
        for token, value, top in zip(*columns, strict=True)
    ]


def _top(pairs) -> tuple[tuple[str, float], ...]:
    """The likeliest of each text: parts of characters all read the same."""
    best: dict[str, float] = {}
    for text, value in pairs:
        best[text] = max(value, best.get(text, value))
    return tuple(sorted(best.items()))

"""Server-sent events as OpenAI-compatible servers write them."""

from __future__ import annotations

import json
from typing import Any

from trtspec.bench.driver import BenchPrompt, Call
from trtspec.bench.http.answer import Sent, read_answer
from trtspec.bench.http.reply import Reply
from trtspec.run import SamplingParams

DONE = b"data: [DONE]\n\n"
STREAM = "text/event-stream"


def event(content: object) -> bytes:
    return b"data: " + json.dumps(content, ensure_ascii=False).encode() + b"\n\n"


def chat(text: str | None = None, finish: str | None = None, **more: Any) -> bytes:
    """A chunk of a chat; ``more`` goes beside ``choices``, ``choice`` into it."""
    choice = {
        "index": 0,
        "delta": {} if text is None else {"content": text},
        "finish_reason": finish,
        **more.pop("choice", {}),
    }
    return event({"object": "chat.completion.chunk", "choices": [choice], **more})


def role() -> bytes:
    """What vLLM, TensorRT-LLM and OpenAI begin a chat with: no token yet."""
    return chat(choice={"delta": {"role": "assistant", "content": ""}})


def completion(text: str, finish: str | None = None) -> bytes:
    return event({"choices": [{"index": 0, "text": text, "finish_reason": finish}]})


def counts(completion_tokens: int, prompt_tokens: int = 7) -> dict[str, Any]:
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    }


def usage(completion_tokens: int, prompt_tokens: int = 7, **more: Any) -> bytes:
    """The last event but [DONE]: token counts and no choice."""
    told = {**counts(completion_tokens, prompt_tokens), **more.pop("details", {})}
    return event({"choices": [], "usage": told, **more})


def prompt(name: str = "p1", text: str = "Say it.") -> BenchPrompt:
    return BenchPrompt(name, "chat", ({"role": "user", "content": text},))


def call(name: str = "p1", output_tokens: int = 64, **more: Any) -> Call:
    sampling = more.pop("sampling", SamplingParams())
    return Call(name, prompt(name), output_tokens, sampling, **more)


def answered(*timed: tuple[float, bytes], **more: Any):
    """Read pieces that arrived at milliseconds; the request was sent at 0."""
    asked = more.pop("asked", None) or call()
    due, sent = more.pop("due", 0.0), more.pop("sent", 0.0)
    off = more.pop("off", False)
    arrivals = [(ms / 1000, piece) for ms, piece in timed]
    reply = Reply(**{"status": 200, "kind": STREAM, "arrivals": arrivals, **more})
    return read_answer(Sent(asked, due, sent, off), reply)

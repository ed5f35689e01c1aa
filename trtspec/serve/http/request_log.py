"""One line per request: who asked for how much, and what became of it."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone

from trtspec.run import Completion

_LONGEST_REASON = 500
_log = logging.getLogger("trtspec.serve")


@dataclass(slots=True)
class Entry:
    """What is known of one request.

    :ivar outcome: how it ended: ok, refused, failed, gone (the client).
    :ivar text: the prompt, if prompts are to be logged.
    """

    id: str
    path: str
    client: str
    status: int = 0
    outcome: str = ""
    reason: str = ""
    stream: bool = False
    completions: list[Completion] = field(default_factory=list)
    text: object = None
    began: float = field(default_factory=time.monotonic)


class RequestLog:
    """Writes entries as JSON lines; the text of prompts only if asked to.

    :param write: takes a line.
    :param with_prompts: log prompts and outputs, too.
    """

    def __init__(
        self, write: Callable[[str], None] | None, *, with_prompts: bool = False
    ) -> None:
        self._write = write
        self.with_prompts = with_prompts
        self._lost = 0

    def add(self, entry: Entry) -> None:
        """Write one entry."""
        if self._write is None:
            return
        done = entry.completions
        line: dict[str, object] = {
            "time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
            "id": entry.id,
            "path": entry.path,
            "client": entry.client,
            "status": entry.status,
            "outcome": entry.outcome,
            "seconds": round(time.monotonic() - entry.began, 4),
        }
        if entry.reason:
            line["reason"] = entry.reason[:_LONGEST_REASON]
        if done:
            line |= _figures(entry, done)
        if self.with_prompts:
            line["prompt"] = entry.text
            line["output"] = [completion.text for completion in done]
        self._put(self._write, json.dumps(line, ensure_ascii=False))

    def _put(self, write: Callable[[str], None], line: str) -> None:
        """Write a line; a full disk must not stop requests, but be known of."""
        try:
            write(line)
        except (OSError, ValueError) as error:
            if not self._lost:
                _log.error("the request log cannot be written, and goes on: %s", error)
            self._lost += 1
            return
        if self._lost:
            _log.error("the request log lacks %d lines before this one", self._lost)
            self._lost = 0


def _figures(entry: Entry, done: list[Completion]) -> dict[str, object]:
    seen = (c.first_token_at for c in done if c.tokens and c.first_token_at)
    first = min(seen, default=None)
    submitted = min(c.submitted_at for c in done)
    return {
        "stream": entry.stream,
        "prompt_tokens": sum(c.prompt_tokens for c in done),
        "output_tokens": sum(len(c.tokens) for c in done),
        "finish": [c.finish_reason for c in done],
        "ttft": None if first is None else round(first - submitted, 4),
        "steps": sum(c.steps for c in done),
        "drafted": sum(c.drafted for c in done),
        "accepted": sum(c.accepted for c in done),
        "lossy": next((c.lossy for c in done if c.lossy), ""),
    }

"""What a server-sent event stream says: events from lines, deltas from events."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from trtspec.errors import RunError
from trtspec.trtllm.pytorch.run.source import Delta

DONE = "[DONE]"
"""What the last event of an OpenAI-compatible stream holds."""
_DATA = "data:"


class EventReader:
    """Puts lines together to events.

    https://html.spec.whatwg.org/multipage/server-sent-events.html, as far as servers of
    language models use it: the field ``data``, over one line or several.
    """

    def __init__(self) -> None:
        self._data: list[str] = []

    def feed(self, line: str) -> str | None:
        """Take a line without its end; give the data of an event that it completes."""
        if line.startswith(_DATA):
            self._data.append(line.removeprefix(_DATA).removeprefix(" ").rstrip())
            return None
        if line or not self._data:
            return None  # a comment, another field, or a second empty line
        whole, self._data = "\n".join(self._data), []
        return whole


@dataclass(frozen=True, slots=True)
class Event:
    """One event of POST /v1/completions.

    :param delta: what is new; None for an event without a choice.
    :param generated: tokens of the whole output, where the event has the usage.
    """

    delta: Delta | None = None
    generated: int | None = None


def read_event(data: str, now: float, where: str) -> Event:
    """Read an event's data.

    :param now: ``time.perf_counter`` seconds at which it was there.
    :param where: the request, for messages.
    :raises RunError: if the server reports an error, or gives no token ids.
    """
    content = _object(data, where)
    if "error" in content or content.get("object") == "error":
        raise RunError(f"the server failed: {error_text(content)}", where=where)
    usage = content.get("usage") or {}
    choices = content.get("choices") or ()
    delta = _delta(choices[0], now, where) if choices else None
    return Event(delta, None if choices else usage.get("completion_tokens"))


def error_text(content: Any) -> str:
    """Find the message in a server's answer to a request that it refuses."""
    if isinstance(content, dict):
        for key in ("error", "message", "detail"):
            if content.get(key):
                return error_text(content[key])
    return content if isinstance(content, str) else json.dumps(content)


def _object(data: str, where: str) -> dict[str, Any]:
    try:
        content = json.loads(data)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise RunError(
            f"the server sent what is no event of a completion: {data[:200]!r}",
            where=where,
            action="see that the URL is that of trtllm-serve itself",
        )
    return content


def _delta(choice: dict[str, Any], now: float, where: str) -> Delta:
    tokens = choice.get("token_ids")
    if tokens is None and choice.get("text"):
        raise RunError(
            "the server gives text without token ids, although it was asked for ids",
            where=where,
            allowed="a trtllm-serve whose /v1/completions honours detokenize: false",
            action="run in process, without --url or --server",
        )
    stop = choice.get("stop_reason")
    return Delta(
        tuple(tokens or ()),
        now,
        finish=choice.get("finish_reason") or "",
        stop_token=stop if isinstance(stop, int) else None,
        per_iteration=choice.get("avg_decoded_tokens_per_iter"),
    )

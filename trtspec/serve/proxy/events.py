"""Where the events of a stream begin and end, as bytes that are passed on unchanged."""

from __future__ import annotations

import json
import re
from typing import Any

_END = re.compile(rb"\r?\n\r?\n")
MOST_BYTES = 16_000_000
"""Of one event: what is longer is none."""


class EventSplitter:
    """Cuts a stream at the empty lines between its events.

    https://html.spec.whatwg.org/multipage/server-sent-events.html
    """

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, piece: bytes) -> list[bytes]:
        """Take bytes as they come; give the events that are whole, ends included.

        :raises ValueError: if an event does not end.
        """
        whole, begin = self._rest + piece, 0
        # an end may have begun in what was there before
        search_from = max(0, len(self._rest) - 3)
        events = []
        for found in _END.finditer(whole, search_from):
            events.append(whole[begin : found.end()])
            begin = found.end()
        self._rest = whole[begin:]
        if len(self._rest) > MOST_BYTES:
            raise ValueError(f"an event of more than {MOST_BYTES} bytes")
        return events

    @property
    def rest(self) -> bytes:
        """What came behind the last whole event."""
        return self._rest


def data_of(event: bytes) -> bytes:
    """Give the data of an event; empty for a comment."""
    lines = (line for line in event.splitlines() if line.startswith(b"data:"))
    return b"\n".join(line[5:].removeprefix(b" ") for line in lines)


def document_of(event: bytes) -> dict[str, Any] | None:
    """Read an event's data as a JSON object; None if it is none."""
    try:
        content = json.loads(data_of(event))
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def event_of(content: dict[str, Any]) -> bytes:
    """Write a document as an event."""
    return b"data: " + json.dumps(content, separators=(",", ":")).encode() + b"\n\n"


def choices_of(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the choices of an answer, or of an event of one."""
    choices = content.get("choices")
    listed = choices if isinstance(choices, list) else []
    return [choice for choice in listed if isinstance(choice, dict)]

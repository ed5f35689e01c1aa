"""What a server's log says: what is new, where the start is, how long it was silent."""

from __future__ import annotations

import re
import time
from functools import cache
from pathlib import Path

from trtspec.build.log_lines import last_lines
from trtspec.trtllm.facts.read import document

_OUR_QUESTIONS = re.compile(r'"GET /(health|v1/models)\b')
"""Lines of uvicorn's access log that our own waiting makes: they are no progress."""


class LogReader:
    """Follows a log that a server writes; the file is there already.

    :ivar path: the log.
    :ivar status: what the server is doing, in words; empty until a line tells.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.status = ""
        self._start = self._read = path.stat().st_size
        self._changed = time.monotonic()

    @property
    def silent_seconds(self) -> float:
        """Time since the server said anything by itself, as of the last look."""
        return time.monotonic() - self._changed

    def look(self) -> bool:
        """Read what is new; whether the status changed."""
        size = self.path.stat().st_size
        if size == self._read:
            return False
        with self.path.open("rb") as stream:
            stream.seek(self._read)
            text = stream.read(size - self._read).decode(errors="replace")
        self._read = size
        if any(not _OUR_QUESTIONS.search(line) for line in text.splitlines()):
            self._changed = time.monotonic()
        before = self.status
        self.status = last_status(text) or before
        return self.status != before

    def tail(self) -> list[str]:
        """Give the last lines that this server wrote."""
        return last_lines(self.path, self._start)


def last_status(text: str) -> str:
    """Say what the last recognised line of a log means; empty if there is none."""
    for line in reversed(text.splitlines()):
        for pattern, status in _statuses():
            if pattern.search(line):
                return status
    return ""


@cache
def _statuses() -> tuple[tuple[re.Pattern[str], str], ...]:
    found = document("serving_failures.json")["statuses"]
    return tuple((re.compile(s["pattern"]), str(s["status"])) for s in found)

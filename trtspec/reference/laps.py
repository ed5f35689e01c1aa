"""Where the seconds of a step go."""

from __future__ import annotations

import time


class Laps:
    """Splits the time since it was made by what it went into."""

    def __init__(self) -> None:
        self._started = self._last = time.perf_counter()
        self._seconds: dict[str, float] = {}

    def end(self, kind: str) -> None:
        """Count the time since the last lap's end as ``kind``."""
        now = time.perf_counter()
        self._seconds[kind] = self[kind] + now - self._last
        self._last = now

    def __getitem__(self, kind: str) -> float:
        """Seconds that went into ``kind``."""
        return self._seconds.get(kind, 0.0)

    @property
    def total(self) -> float:
        """Seconds from the start until now."""
        return time.perf_counter() - self._started

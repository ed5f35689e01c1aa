"""Whether somebody asked us to end; signals only leave a note of it."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_POLL_SECONDS = 0.05


class StopRequest:
    """Collects the signals that ask for an end; who waits looks at it."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self.times = 0

    @property
    def made(self) -> bool:
        """Whether an end was asked for."""
        return self.times > 0

    def make(self, number: int = signal.SIGTERM) -> None:
        """Ask for an end; the first signal decides what is said of it."""
        self.signal = self.signal or number
        self.times += 1

    def pause(self, seconds: float) -> bool:
        """Wait, but no longer than until an end is asked for; whether it was."""
        end = time.monotonic() + seconds
        while not self.made and (left := end - time.monotonic()) > 0:
            time.sleep(min(_POLL_SECONDS, left))
        return self.made


@contextmanager
def stop_by_signal() -> Iterator[StopRequest]:
    """Take SIGTERM, SIGINT and SIGHUP as requests to end, in place of what they do.

    An exception raised at any point, as by default, could fall between starting a
    server and knowing of it. A SIGHUP that is ignored, as under nohup, stays so.
    """
    request = StopRequest()

    def note(number: int, frame: FrameType | None) -> None:
        request.make(number)

    hangup = signal.getsignal(signal.SIGHUP)
    taken = [n for n in _SIGNALS if (n, hangup) != (signal.SIGHUP, signal.SIG_IGN)]
    before = {number: signal.signal(number, note) for number in taken}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

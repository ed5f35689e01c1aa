"""What Ctrl-C and a supervisor's signals do: end the command from where it stands.

Never from within an import: libraries take what is raised there for a missing part of
themselves, and go on without it or raise another error (CPython wraps it itself where a
class is made, https://github.com/python/cpython/issues/77757).
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

_Handler = Callable[[int, FrameType | None], object]

_AGAIN_S = 0.02


class TerminatedError(BaseException):
    """The system or a supervisor asks us to end; clean up as for an interrupt."""


def raise_on_signals() -> None:
    """Let SIGINT raise KeyboardInterrupt; SIGTERM and SIGHUP ``TerminatedError``."""
    signal.signal(signal.SIGINT, outside_imports(signal.default_int_handler))
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup has it ignored
            signal.signal(number, outside_imports(_terminate))


def outside_imports(handler: _Handler) -> _Handler:
    """Give a handler that waits until no import is under way."""

    def wait_or_handle(number: int, frame: FrameType | None) -> None:
        if not _importing(frame):
            handler(number, frame)
            return

        def again(_: int, later: FrameType | None) -> None:
            wait_or_handle(number, later)

        signal.signal(signal.SIGALRM, again)
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)

    return wait_or_handle


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)
    raise TerminatedError(number)

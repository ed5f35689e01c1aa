"""How an interrupt waits until a step is whole and stored."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """A signal came, and what runs is at a place where it can be stored."""


class Interrupt:
    """Remembers SIGINT and SIGTERM while its ``with`` block runs.

    A second one is obeyed at once.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupt:
        # only the main thread may set handlers; elsewhere signals do as they always do
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                self._before[number] = signal.signal(number, self._remember)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def obey(self) -> None:
        """Stop here if a signal came.

        :raises Interrupted: then.
        """
        if self.asked:
            raise Interrupted

    def _remember(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

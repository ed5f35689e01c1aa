"""The one thread in which an engine is built, loaded and driven."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

ResultT = TypeVar("ResultT")


class EngineThread:
    """Does what it is given, one after the other.

    OpenMP keeps a pool of workers for every thread that ever computed, and libgomp
    waits actively at a barrier only while there are no more workers than processors:
    where one thread loads a model and another one runs it, each step takes half as
    long again, or twice as long (measured on two cores). So both are done here.

    It ends with the process, also in the midst of a step that does not end.
    """

    def __init__(self) -> None:
        self._works: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._go_on, name="engine", daemon=True)
        self._thread.start()

    def start(self, work: Callable[[], ResultT]) -> Future[ResultT]:
        """Have some work done; gives what will hold its result."""
        future: Future[ResultT] = Future()

        def do() -> None:
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001 - told to who waits
                future.set_exception(error)

        self._works.put(do)
        return future

    def call(self, work: Callable[[], ResultT]) -> ResultT:
        """Have some work done, and wait for it.

        :raises BaseException: what it raises.
        """
        return self.start(work).result()

    def end(self) -> None:
        """Do what was given until now, and no more."""
        self._works.put(None)

    def _go_on(self) -> None:
        while (work := self._works.get()) is not None:
            work()
            del work  # it may hold a model, and the next wait may be long

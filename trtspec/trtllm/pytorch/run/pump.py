"""How asynchronous streams are read by a runner that is called step by step.

One thread runs an asyncio loop; each stream is a task on it. What the tasks bring goes
through a queue to whoever calls ``take``.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Coroutine, Hashable
from concurrent import futures
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from trtspec.run.types import Request
from trtspec.trtllm.pytorch.run.source import Delta, Source

CLOSE_SECONDS = 60.0
"""Longest wait for streams to end and for the source to close."""
_REST_SECONDS = 5.0
"""Longest wait for what closed streams leave to do."""

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Arrived:
    """Something new of a stream."""

    key: Hashable
    delta: Delta


@dataclass(frozen=True, slots=True)
class Ended:
    """The last of a stream.

    :param error: what it failed with; None if it ended or was stopped.
    """

    key: Hashable
    error: BaseException | None


class Pump:
    """Reads the streams of one source."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._events: queue.SimpleQueue[Arrived | Ended] = queue.SimpleQueue()
        self._tasks: dict[Hashable, asyncio.Task[None]] = {}  # of the loop's thread
        self._open: set[Hashable] = set()  # of the caller's thread
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name=source.name, daemon=True
        )
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether a stream has not ended yet, be it one that was stopped."""
        return bool(self._open)

    def start(self, key: Hashable, request: Request) -> None:
        """Begin a stream.

        :param key: names it in what ``take`` gives; used for no other stream.
        """
        self._open.add(key)
        self._loop.call_soon_threadsafe(self._begin, key, request)

    def stop(self, key: Hashable) -> None:
        """End a stream early; one that has ended is left alone."""
        self._loop.call_soon_threadsafe(self._cancel, key)

    def stop_all(self) -> None:
        """End all streams early."""
        for key in self._open:
            self.stop(key)

    def take(self, seconds: float) -> list[Arrived | Ended]:
        """Give what came since the last call; wait up to ``seconds`` for the first."""
        taken: list[Arrived | Ended] = []
        with suppress(queue.Empty):
            taken.append(self._events.get(timeout=seconds))
            while True:
                taken.append(self._events.get_nowait())
        self._open -= {event.key for event in taken if isinstance(event, Ended)}
        return taken

    def run(self, work: Coroutine[Any, Any, ResultT], seconds: float) -> ResultT:
        """Do something of the source's on its loop.

        :raises TimeoutError: if it takes longer than ``seconds``.
        """
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(seconds)
        except futures.TimeoutError:  # before Python 3.11 another than the builtin
            future.cancel()
            raise TimeoutError(f"not done within {seconds:g} s") from None

    def close(self) -> None:
        """Stop all streams, close the source and end the thread."""
        if self._loop.is_closed():
            return
        try:
            self.run(self._wind_up(), CLOSE_SECONDS)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(CLOSE_SECONDS)
            if not self._thread.is_alive():
                self._loop.close()
            self._open.clear()

    def _begin(self, key: Hashable, request: Request) -> None:
        task = self._loop.create_task(self._read(key, request))
        self._tasks[key] = task
        task.add_done_callback(partial(self._end, key))

    async def _read(self, key: Hashable, request: Request) -> None:
        # closed at once when the task is cancelled: that is what frees the GPU
        async with aclosing(self._source.stream(request)) as deltas:
            async for delta in deltas:
                self._events.put(Arrived(key, delta))

    def _end(self, key: Hashable, task: asyncio.Task[None]) -> None:
        self._tasks.pop(key, None)
        self._events.put(Ended(key, None if task.cancelled() else task.exception()))

    def _cancel(self, key: Hashable) -> None:
        if task := self._tasks.get(key):
            task.cancel()

    async def _wind_up(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._source.close()
        await self._finish_generators()

    async def _finish_generators(self) -> None:
        """Let generators that were left before their end run to it.

        Python closes such a generator in a task of its own, which must have ended
        before the loop does: else it is complained about on stderr.
        """
        await self._loop.shutdown_asyncgens()
        await asyncio.sleep(0)  # closing that was asked for becomes a task
        if rest := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(rest, timeout=_REST_SECONDS)

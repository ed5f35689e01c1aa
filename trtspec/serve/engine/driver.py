"""How a runner that is called step by step serves coroutines."""

from __future__ import annotations

import asyncio
import logging
import queue
import time
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

from trtspec.errors import RunError, UsageError
from trtspec.run import Request, Runner, StepResult
from trtspec.serve.engine.stream import RequestStream
from trtspec.serve.engine.thread import EngineThread

FAILURES = 3
"""Steps that may fail one after another; then the engine counts as broken."""
_END_SECONDS = 10.0
_log = logging.getLogger("trtspec.serve")


class EngineFailedError(RunError):
    """The engine failed while a request was in it; another try may succeed."""


class Watcher(Protocol):
    """Told in the event loop's thread of what the engine did."""

    def __call__(self, result: StepResult) -> None:
        """Look at the result of one step."""
        ...


@dataclass(frozen=True, slots=True)
class _Submit:
    request: Request


@dataclass(frozen=True, slots=True)
class _Cancel:
    request_id: str


@dataclass(frozen=True, slots=True)
class _Close:
    pass


_Command = _Submit | _Cancel | _Close


class EngineDriver:
    """Owns a runner: only its thread calls it, between two steps.

    Coroutines ``submit`` and ``cancel``; what they ask for is done before the next
    step. A step that fails ends all requests that were in the engine, which then goes
    on with those that come; so many failures in a row, and it is ``broken``.

    :param watch: told of every step.
    :param thread: the one in which the runner was loaded, which ends with the driver;
        another one if None.
    """

    def __init__(
        self,
        runner: Runner,
        watch: Watcher = lambda result: None,
        thread: EngineThread | None = None,
    ) -> None:
        self._runner = runner
        self._watch = watch
        self._commands: queue.SimpleQueue[_Command] = queue.SimpleQueue()
        self._streams: dict[str, RequestStream] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = thread or EngineThread()
        self._running: Future[None] | None = None
        self._inside: set[str] = set()  # of the engine's thread
        self._failures = 0
        self._stepped_at = time.monotonic()
        self.broken: Exception | None = None

    @property
    def streams(self) -> Mapping[str, RequestStream]:
        """Requests that wait or run, by id."""
        return self._streams

    def idle_seconds(self) -> float:
        """Seconds since the last step, while there is work; 0 if there is none."""
        return time.monotonic() - self._stepped_at if self._streams else 0.0

    def start(self) -> None:
        """Begin; to be called in the event loop's thread."""
        self._loop = asyncio.get_running_loop()
        self._running = self._thread.start(self._run)
        asyncio.wrap_future(self._running).add_done_callback(self._ended)

    def submit(self, *requests: Request) -> RequestStream:
        """Send requests; what is wrong with one of them is told by their stream.

        :param requests: read together; the ids are no other request's.
        :raises EngineFailedError: if the engine is broken.
        """
        if self.broken is not None:
            raise EngineFailedError("the engine is broken and takes no more requests")
        if not self._streams:
            self._stepped_at = time.monotonic()
        stream = RequestStream(request.id for request in requests)
        for request in requests:
            self._streams[request.id] = stream
            self._commands.put(_Submit(request))
        return stream

    def cancel(self, request_id: str) -> None:
        """End a request at the next step; one that has ended is left alone."""
        if request_id in self._streams:
            self._commands.put(_Cancel(request_id))

    def abandon(self) -> None:
        """End all requests with an error, whatever the engine does with them."""
        hangs = EngineFailedError("the engine does not answer, and the server ends")
        while self._streams:
            self._streams.popitem()[1].fail(hangs)

    async def close(self) -> None:
        """End the thread, and free the engine's memory.

        A step that does not end is waited for some seconds only; the engine is
        ``broken`` then, and its thread ends with the process.
        """
        self._commands.put(_Close())
        self._thread.end()
        if self._running is None:
            return
        ended = asyncio.wrap_future(self._running)
        try:
            await asyncio.wait_for(asyncio.shield(ended), _END_SECONDS)
        except asyncio.TimeoutError:
            self.broken = self.broken or RunError("a step of the engine does not end")

    def _run(self) -> None:
        """Be the thread: do what is asked for, then a step, until the end."""
        while self._obey():
            if not self._runner.busy:
                continue
            try:
                result = self._runner.advance()
            except Exception as error:  # noqa: BLE001 - torch raises what it likes
                self._failures += 1
                _log.error("an engine step failed: %s", error, exc_info=error)
                # what the step had made, such as half a batch, is needed no more: the
                # next one may have to have that memory
                traceback.clear_frames(error.__traceback__)
                lost, self._inside = self._inside, set()
                self._tell(self._fail, lost, error, self._failures >= FAILURES)
            else:
                self._failures = 0
                ended = {c.request_id for c in result.chunks if c.completion}
                self._inside -= ended
                self._tell(self._deliver, result)
        self._runner.close()

    def _obey(self) -> bool:
        """Do what was asked for, waiting for it if there is nothing else to do."""
        while True:
            try:
                command = self._commands.get(block=not self._runner.busy)
            except queue.Empty:
                return True
            if isinstance(command, _Close):
                return False
            if isinstance(command, _Cancel):
                self._runner.cancel(command.request_id)
            else:
                self._submit(command.request)

    def _submit(self, request: Request) -> None:
        try:
            self._runner.submit(request)
        except UsageError as error:
            self._tell(self._refuse, request.id, error)
        except Exception as error:  # noqa: BLE001 - such as a runner that was closed
            self._tell(self._refuse, request.id, _failure(error))
        else:
            self._inside.add(request.id)

    def _tell(self, function: Callable[..., None], *values: object) -> None:
        """Call a function in the event loop's thread, if the loop still runs."""
        assert self._loop is not None, "start comes first"
        try:
            self._loop.call_soon_threadsafe(function, *values)
        except RuntimeError:  # the loop was closed: nobody listens any more
            self._commands.put(_Close())

    # what follows runs in the event loop's thread

    def _deliver(self, result: StepResult) -> None:
        self._stepped_at = time.monotonic()
        for chunk in result.chunks:
            stream = self._streams.get(chunk.request_id)
            if stream is None:
                continue
            stream.push(chunk)
            if chunk.completion is not None:
                del self._streams[chunk.request_id]
        self._watch(result)

    def _ended(self, run: asyncio.Future[None]) -> None:
        """Tell everyone if the thread ended by a fault of ours, or the runner's."""
        if not run.cancelled() and (error := run.exception()) is not None:
            assert isinstance(error, Exception), "the thread's own way to end"
            self._fail(set(self._streams), error, broken=True)

    def _refuse(self, request_id: str, error: Exception) -> None:
        if stream := self._streams.pop(request_id, None):
            stream.fail(error)

    def _fail(self, lost: set[str], error: Exception, broken: bool) -> None:
        """End the requests that were in the engine; what came since goes on."""
        self._stepped_at = time.monotonic()
        if broken:
            self.broken = error
            lost = set(self._streams)
        for request_id in lost & set(self._streams):
            self._streams.pop(request_id).fail(_failure(error))


def _failure(error: Exception) -> EngineFailedError:
    """Say what a client may know: the kind of failure, not the engine's insides."""
    what = str(error).splitlines()[0] if isinstance(error, RunError) else ""
    if isinstance(error, MemoryError) or "memory" in str(error).lower():
        what = "the engine ran out of memory"
    return EngineFailedError(
        what or "an engine step failed; the server's log has the reason",
        action="send the request again, or a shorter one",
    )

"""Which request runs when: in a round, as a stream, or not any more."""

from __future__ import annotations

import time
from collections.abc import Sequence

from trtspec.run.queue import RequestQueue
from trtspec.run.types import StepResult
from trtspec.trtllm.engine.run.executor import POLL_SECONDS, Executor
from trtspec.trtllm.engine.run.request import EngineRequest
from trtspec.trtllm.engine.run.rounds import Rounds
from trtspec.trtllm.engine.run.streams import Streams


class Loop:
    """Runs requests in rounds and as streams, on one target engine.

    :param executors: all engines.
    :param rounds: None if the engine's drafts do not come from outside.
    :param batch: requests that run at once.
    """

    def __init__(
        self,
        executors: Sequence[Executor],
        streams: Streams,
        rounds: Rounds | None,
        batch: int,
    ) -> None:
        self._executors = executors
        self._streams = streams
        self._rounds = rounds
        self.queue: RequestQueue[EngineRequest] = RequestQueue(batch)

    @property
    def busy(self) -> bool:
        """Whether a request waits or runs, or a cancelled one is not yet gone."""
        return bool(self.queue) or any(e.is_draining for e in self._executors)

    def step(self) -> StepResult:
        """Drop what was cancelled; else let requests join, do a round and wait.

        :raises RunError: naming what failed, engine or requests. All requests are
            gone then, and the engines, if they live, are free for others.
        """
        try:
            result = self._drop_cancelled() or self._work()
        except BaseException:  # an interrupt, too, leaves a round half done
            self._abandon()
            raise
        self._retire()
        return result

    def _work(self) -> StepResult:
        joined = self.queue.join(len(self.queue.next))
        self._streams.start([r for r in joined if not r.in_rounds])
        new = [r for r in joined if r.in_rounds]
        in_rounds = [r for r in self.queue.running if r.in_rounds]
        done = StepResult()
        if self._rounds and new:
            done = self._rounds.prefill(new)
        elif self._rounds and in_rounds:
            done = self._rounds.decode(in_rounds, len(self.queue.running))
        seconds = 0.0 if in_rounds else POLL_SECONDS
        if self._streams:
            received = self._streams.receive(seconds)
            return StepResult((*done.chunks, *received), done.records)
        for executor in self._executors:
            if executor.is_draining:
                executor.poll(seconds)
        return done

    def _drop_cancelled(self) -> StepResult | None:
        cancelled, now = self.queue.take_cancelled(), time.perf_counter()
        for request in cancelled:
            self._streams.discard(request)
        chunks = tuple(request.cancel(now) for request in cancelled)
        return StepResult(chunks) if chunks else None

    def _retire(self) -> None:
        """Let go of what has ended; a stream may still wait for its counts."""
        ended = [r for r in self.queue.running if r.finished and r not in self._streams]
        for request in ended:
            self.queue.running.remove(request)
            self._release(request)

    def _release(self, request: EngineRequest) -> None:
        if self._rounds:
            self._rounds.release(request)

    def _abandon(self) -> None:
        """Let go of everything after a failure."""
        for request in self.queue.running:
            self._release(request)
        self.queue.clear()
        self._streams.clear()
        for executor in self._executors:
            executor.discard_all()

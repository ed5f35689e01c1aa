"""Which request runs when: a queue, a batch, requests joining and leaving."""

from __future__ import annotations

import time
from collections import deque

from trtspec.errors import RunError
from trtspec.methods import Method
from trtspec.run.types import StepResult
from trtspec.trtllm.engine.run.executor import POLL_SECONDS, Executor
from trtspec.trtllm.engine.run.outcome import Outcome
from trtspec.trtllm.engine.run.request import EngineRequest
from trtspec.trtllm.engine.run.rounds import Rounds
from trtspec.trtllm.engine.run.streams import Streams


class Loop:
    """Runs requests in rounds and as streams, on one target engine.

    :param rounds: None if the engine's drafts do not come from outside.
    :param batch: requests that run at once.
    """

    def __init__(
        self,
        target: Executor,
        streams: Streams,
        rounds: Rounds | None,
        method: Method,
        batch: int,
    ) -> None:
        self._target = target
        self._streams = streams
        self._rounds = rounds
        self._method = method
        self._batch = batch
        self._held = StepResult()
        self.waiting: deque[EngineRequest] = deque()
        self.running: list[EngineRequest] = []

    @property
    def busy(self) -> bool:
        """Whether a request waits or runs, or a cancelled one is not yet gone."""
        unfinished = bool(self.waiting or self.running or self._held.chunks)
        return unfinished or self._target.is_draining

    def submit(self, request: EngineRequest) -> None:
        """Queue a request; it joins as soon as there is room in the batch."""
        self.waiting.append(request)

    def advance(self) -> StepResult:
        """Drop what was cancelled, let requests join, then do a round or wait.

        :raises RunError: naming the requests that cannot go on; the others do, and
            what they emitted comes with the next advance. If it names an engine, all
            requests are gone.
        """
        if self._held.chunks:
            held, self._held = self._held, StepResult()
            return held
        try:
            outcome = self._drop_cancelled()
            if not outcome.chunks:
                outcome = self._step()
        except BaseException:  # an interrupt, too, leaves a round half done
            self._abandon()
            raise
        return self._result(outcome)

    def _step(self) -> Outcome:
        joined = self._join()
        self._streams.start([r for r in joined if not r.in_rounds])
        in_rounds = [r for r in self.running if r.in_rounds]
        new = [r for r in joined if r.in_rounds]
        outcome = Outcome()
        if self._rounds and new:
            outcome = self._rounds.advance("prefill", new, 0)
        elif self._rounds and in_rounds:
            length = self._method.draft_length_at(len(self.running))
            outcome = self._rounds.advance("decode", in_rounds, length)
        if self._streams or self._target.is_draining:
            outcome.add(self._streams.advance(0.0 if in_rounds else POLL_SECONDS))
        return outcome

    def _join(self) -> list[EngineRequest]:
        free = max(0, self._batch - len(self.running))
        joined = [self.waiting.popleft() for _ in range(min(free, len(self.waiting)))]
        self.running += joined
        return joined

    def _drop_cancelled(self) -> Outcome:
        now = time.perf_counter()
        everyone = (*self.running, *self.waiting)
        # one that has finished only waits for its counts
        cancelled = [r for r in everyone if r.cancelled and not r.finished]
        for request in cancelled:
            self._streams.cancel(request)
        self.waiting = deque(r for r in self.waiting if not r.cancelled)
        return Outcome(chunks=[request.cancel(now) for request in cancelled])

    def _result(self, outcome: Outcome) -> StepResult:
        """Let ended requests go; raise what went wrong, keeping the rest for later."""
        gone = {request for request, _ in outcome.failed}
        ended = [r for r in self.running if r in gone or self._has_ended(r)]
        self.running = [r for r in self.running if r not in ended]
        for request in ended:
            if self._rounds:
                self._rounds.release(request)
        lost = {request.request.id for request in gone}
        chunks = tuple(c for c in outcome.chunks if c.request_id not in lost)
        result = StepResult(chunks, tuple(outcome.records))
        if gone:
            self._held = result
            raise RunError.from_problems(problem for _, problem in outcome.failed)
        return result

    def _has_ended(self, request: EngineRequest) -> bool:
        return request.finished and request not in self._streams

    def _abandon(self) -> None:
        """Let go of everything after an engine has failed."""
        for request in self.running:
            if self._rounds:
                self._rounds.release(request)
        self.running, self.waiting = [], deque()
        try:
            self._streams.abandon()
            if self._rounds:
                self._rounds.abandon()
        except RunError:
            return  # the engine takes no cancellation any more: the first error counts

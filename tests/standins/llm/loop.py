"""How are requests decoded together? One thread; requests join and leave in between."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any

from packaging.version import Version

from tests.standins.llm.checkpoint import Checkpoint
from tests.standins.llm.draft_length import DraftLengths
from tests.standins.llm.drafting import Proposer, make_proposer
from tests.standins.llm.request import Chunk
from tests.standins.llm.running import Running
from tests.standins.llm.stats import KEPT, Iteration, iteration_record, request_metrics
from tests.standins.machine import Machine
from trtspec.trtllm.facts import families


class Loop:
    """The engine of one LLM."""

    def __init__(
        self, checkpoint: Checkpoint, args: Any, version: Version, machine: Machine
    ) -> None:
        self.checkpoint, self.args = checkpoint, args
        self.version, self.machine = version, machine
        family = str(families.family_of(version))
        self.config = args.speculative_config
        most = args.max_batch_size or 2048
        self.lengths = DraftLengths(self.config, family, most)
        self.proposer: Proposer = make_proposer(self.config, checkpoint.vocabulary)
        self.records: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self.totals = {"drafted": 0, "accepted": 0, "drafting": 0}
        self.emitted = 0
        self.lock = threading.Condition()
        self.waiting: list[Running] = []
        self.running: list[Running] = []
        self.cancelled: set[int] = set()
        self.stopped = False
        self.number = 0
        self._free = list(range(checkpoint.slots))
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def add(self, requests: list[Running]) -> None:
        with self.lock:
            if self.stopped:
                raise RuntimeError("LLM is shutting down")
            self.waiting += requests
            self.lock.notify_all()

    def cancel(self, request_id: int) -> None:
        with self.lock:
            self.cancelled.add(request_id)
            self.lock.notify_all()

    def stop(self) -> None:
        """End what runs and wait for the thread."""
        with self.lock:
            self.stopped = True
            self.lock.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join(10)

    def _run(self) -> None:
        while True:
            with self.lock:
                self.lock.wait_for(lambda: self.stopped or self.waiting or self.running)
                ending = self.stopped
            try:
                if ending:
                    self._end(self.running + self.waiting, "cancelled")
                    return
                self._advance()
            except Exception as error:  # noqa: BLE001 - the requests tell it
                self._fail(f"{type(error).__name__}: {error}")

    def _advance(self) -> None:
        with self.lock:
            gone = [r for r in self.running + self.waiting if r.id in self.cancelled]
            self.cancelled.clear()
        self._end(gone, "cancelled")
        with self.lock:
            room = len(self._free)
            joining, self.waiting = self.waiting[:room], self.waiting[room:]
        if not joining and not self.running:
            return
        started = time.perf_counter()
        batch = len(joining) + len(self.running)
        self.number += 1
        length = self.lengths.at(batch)
        done = Iteration(self.number, batch, length, [r.id for r in joining])
        chunks = [(r, self._decode(r, length, done)) for r in self.running]
        chunks += [(r, self._join(r)) for r in joining]
        self.running += joining
        time.sleep(self.machine.pace)
        done.seconds = time.perf_counter() - started
        self._report(done)
        self._deliver(chunks)

    def _join(self, request: Running) -> list[int]:
        request.stream.slot = self._free.pop()
        request.first = self.number
        request.mark("first_scheduled_time")
        return request.emit(request.stream.look(0, 1))

    def _decode(self, request: Running, length: int, done: Iteration) -> list[int]:
        truth = request.stream.look(len(request.tokens), length + 1)
        drafted: list[int] = []
        started = time.perf_counter()
        if length:
            drafted = self.proposer.propose(request.text, truth[:length])[:length]
        done.draft_seconds += time.perf_counter() - started
        right = 0
        while right < min(len(drafted), len(truth) - 1) and (
            drafted[right] == truth[right]
        ):
            right += 1
        emitted = request.emit(truth[: right + 1])
        accepted = len(emitted) - 1
        request.steps.append((len(drafted), accepted))
        done.requests.append(
            {
                "id": request.id,
                "drafted": len(drafted),
                "accepted": accepted,
                "emitted": len(emitted),
            }
        )
        return emitted

    def _report(self, done: Iteration) -> None:
        self.totals["drafted"] += done.total("drafted")
        self.totals["accepted"] += done.total("accepted")
        self.totals["drafting"] += done.drafting
        self.emitted += done.total("emitted") + len(done.joined)
        if self.args.enable_iter_perf_stats:
            record = iteration_record(done, self.config, self.version)
            self.records.append(record)
        self.machine.note("iteration", **vars(done))
        gate, drafted = self.lengths.gate, done.total("drafted")
        if gate and gate.per_iteration and drafted:
            gate.add(done.total("accepted") / drafted)

    def _deliver(self, chunks: list[tuple[Running, list[int]]]) -> None:
        finished = [r for r, _ in chunks if r.finish_reason]
        for request in finished:
            self._leave(request)
            gate = self.lengths.gate
            if gate and not gate.per_iteration and request.steps:
                gate.add(request.accepted / len(request.steps))
        for request, tokens in chunks:
            request.output.put(self._chunk(request, tokens))

    def _chunk(self, request: Running, tokens: list[int]) -> Chunk:
        counts = {"drafted": request.drafted, "accepted": request.accepted}
        counts |= {"first": request.first, "last": self.number}
        return Chunk(
            tokens,
            request.iterations,
            request.finish_reason,
            request.stop_reason,
            request.dropped,
            request_metrics(self.version, self.args, counts, request.times),
        )

    def _end(self, requests: list[Running], reason: str) -> None:
        for request in requests:
            request.finish_reason = reason
            self._leave(request)
            request.output.put(self._chunk(request, []))

    def _leave(self, request: Running) -> None:
        if request in self.running:
            self.running.remove(request)
            self._free.append(request.stream.slot)
        if request in self.waiting:
            self.waiting.remove(request)
        self.machine.note("request", **request.record(), at=self.number)

    def _fail(self, message: str) -> None:
        with self.lock:
            failed, self.running, self.waiting = self.running + self.waiting, [], []
            self._free = list(range(self.checkpoint.slots))
        for request in failed:
            request.output.put(Chunk([], 0, error=message))

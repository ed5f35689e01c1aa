"""Which request runs when: a queue, a row of slots, requests joining and leaving."""

from __future__ import annotations

import time
from collections import deque
from itertools import islice

from trtspec.methods import Method
from trtspec.reference.drafters import Drafter
from trtspec.reference.prefill import group_size, prefill
from trtspec.reference.running import Running
from trtspec.reference.slots import SlotModel
from trtspec.reference.step import speculative_step
from trtspec.run import StepResult


class Engine:
    """Continuous batching over one target model and at most one drafter.

    Slot i belongs to ``running[i]``; when a request leaves, the last one moves into
    its slot, so that the slots in use stay dense.
    """

    def __init__(
        self, target: SlotModel, drafter: Drafter | None, method: Method
    ) -> None:
        self._target = target
        self._drafter = drafter
        self._method = method
        self._slots = len(target.lengths)
        self.waiting: deque[Running] = deque()
        self.running: list[Running] = []

    @property
    def busy(self) -> bool:
        """Whether any request is waiting or running."""
        return bool(self.waiting or self.running)

    def submit(self, request: Running) -> None:
        """Queue a request; it joins as soon as a slot is free."""
        self.waiting.append(request)

    def advance(self) -> StepResult:
        """Drop what was cancelled, then let requests join, else do one decode step."""
        dropped = self._drop_cancelled()
        if dropped.chunks:
            return dropped
        free = self._slots - len(self.running)
        if self.waiting and free:
            result = self._join(free)
        elif self.running:
            draft_length = self._method.draft_length_at(len(self.running))
            result = speculative_step(
                self._target, self._drafter, self.running, draft_length
            )
        else:
            return StepResult()
        self._retire()
        return result

    def _join(self, free: int) -> StepResult:
        lengths = [len(r.request.prompt) for r in islice(self.waiting, free)]
        joining = [self.waiting.popleft() for _ in range(group_size(lengths))]
        first = len(self.running)
        self.running += joining
        return prefill(self._target, first, joining)

    def _drop_cancelled(self) -> StepResult:
        now = time.perf_counter()
        everyone = (*self.running, *self.waiting)
        chunks = tuple(r.cancel(now) for r in everyone if r.cancelled)
        self.waiting = deque(r for r in self.waiting if not r.cancelled)
        self._retire()
        return StepResult(chunks)

    def _retire(self) -> None:
        """Free the slots of finished requests, from the last one down."""
        for slot in reversed(range(len(self.running))):
            if self.running[slot].finished:
                self._free(slot)

    def _free(self, slot: int) -> None:
        last = len(self.running) - 1
        if self._drafter:
            self._drafter.release(slot)
        if slot != last:
            self._target.move(last, slot)
            if self._drafter:
                self._drafter.move(last, slot)
            self.running[slot] = self.running[last]
        self._target.clear(last)
        self.running.pop()

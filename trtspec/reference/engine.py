"""Which request runs when: a queue, a row of slots, requests joining and leaving."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from trtspec.methods import Method
from trtspec.reference.acceptance import Rule, rule_for
from trtspec.reference.drafters import Drafter
from trtspec.reference.prefill import group_size, prefill
from trtspec.reference.running import Running
from trtspec.reference.slots import SlotModel
from trtspec.reference.step import speculative_step
from trtspec.run import StepResult
from trtspec.run.queue import RequestQueue


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
        self._rule = rule_for(method)
        self.method = method
        target.capture(drafter.reads if drafter else ())
        self.queue: RequestQueue[Running] = RequestQueue(len(target.lengths))

    @property
    def running(self) -> list[Running]:
        """Requests in slots."""
        return self.queue.running

    @property
    def drafter(self) -> Drafter | None:
        """What drafts; None where nothing does."""
        return self._drafter

    @contextmanager
    def instead(
        self, rule: Rule | None = None, drafter: Drafter | None = None
    ) -> Iterator[None]:
        """Accept by another rule, or draft with another drafter, for a while.

        Nothing may be running: what a drafter has seen of a request is its own.
        """
        usual = self._rule, self._drafter
        self._rule, self._drafter = rule or usual[0], drafter or usual[1]
        try:
            yield
        finally:
            self._rule, self._drafter = usual

    def advance(self) -> StepResult:
        """Drop what was cancelled, then let requests join, else do one decode step.

        :raises Exception: whatever stopped the step; all requests are gone then.
        """
        try:
            return self._advance()
        except BaseException:  # an interrupt, too, leaves a step half done
            self._abandon()
            raise

    def _advance(self) -> StepResult:
        now = time.perf_counter()
        if dropped := [r.cancel(now) for r in self.queue.take_cancelled()]:
            self._retire()
            return StepResult(tuple(dropped))
        if joining := self.queue.next:
            result = self._join([len(request.request.prompt) for request in joining])
        elif self.running:
            result = speculative_step(
                self._target, self._drafter, self.running, self.method, self._rule
            )
        else:
            return StepResult()
        self._retire()
        return result

    def _join(self, lengths: list[int]) -> StepResult:
        first = len(self.running)
        joining = self.queue.join(group_size(lengths))
        return prefill(self._target, self._drafter, first, joining)

    def _abandon(self) -> None:
        """Free every slot: what is in them after a broken step is not known."""
        with suppress(Exception):  # the first error counts
            while self.running:
                self._free(len(self.running) - 1)
        self.queue.clear()

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

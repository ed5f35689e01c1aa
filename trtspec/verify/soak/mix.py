"""What becomes of requests that join, leave and are cancelled at random."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trtspec.verify.soak.drive import Driver, Prompt, Seen
from trtspec.verify.soak.record import Check, Requests

JOIN, CANCEL, LONG = 0.3, 0.03, 0.1
"""Chances: of a request to join at a step, of one in flight to be cancelled at a step,
of a prompt to be as long as is allowed."""
PATIENCE = 20_000
"""Steps after which what still runs counts as lost."""


@dataclass(slots=True)
class Mix:
    """The random load of a soak; the same for the same seed and the same steps.

    :param tokens: most tokens of an answer.
    """

    driver: Driver
    prompts: Sequence[Prompt]
    tokens: int
    chance: random.Random
    submitted: int = 0
    finished: int = 0
    cancelled: int = 0
    long: int = 0
    lost: int = 0
    wrong: str = ""

    def segment(self, done: Callable[[], bool], least: int) -> None:
        """Load the engine until it is time, then wait until nothing runs.

        :param least: requests that are sent in any case.
        """
        sent = self.submitted
        asked: set[str] = set()
        while not done() or self.submitted - sent < least:
            self._join()
            asked |= self._cancel()
            self._note(self.driver.step(), asked)
        for _ in range(PATIENCE):
            if not self.driver.in_flight:
                return
            self._note(self.driver.step(), asked)
        self.lost += len(self.driver.in_flight)
        self.driver.in_flight.clear()

    def _join(self) -> None:
        flying, most = len(self.driver.in_flight), self.driver.runner.max_running
        if flying and (flying >= 2 * most or self.chance.random() >= JOIN):
            return
        prompt = self.chance.choice(self.prompts)
        room = self.driver.runner.max_total_tokens
        if self.chance.random() < LONG:
            self.long += 1
            prompt = stretched(prompt, self.driver.runner.max_input_tokens)
        tokens = self.chance.randint(1, max(1, min(self.tokens, room - len(prompt))))
        self.driver.submit(prompt, tokens, to_end=self.chance.random() < 0.5)
        self.submitted += 1

    def _cancel(self) -> set[str]:
        chosen = [n for n in self.driver.in_flight if self.chance.random() < CANCEL]
        for name in chosen:
            self.driver.runner.cancel(name)
        return set(chosen)

    def _note(self, ended: Sequence[Seen], asked: set[str]) -> None:
        for seen in ended:
            done, request = seen.completion, seen.request
            assert done is not None, "it ended"
            if done.finish_reason == "cancelled":
                self.cancelled += 1
                if request.id not in asked:
                    self.wrong = f"{request.id} was cancelled, and nobody asked for it"
                continue
            self.finished += 1
            if len(done.tokens) != seen.emitted:
                self.wrong = (
                    f"{request.id} streamed {seen.emitted} tokens and has "
                    f"{len(done.tokens)} at its end"
                )
            elif len(done.tokens) > request.max_new_tokens:
                self.wrong = f"{request.id} has more tokens than were asked for"

    def record(self) -> Requests:
        """Give the counts."""
        return Requests(
            submitted=self.submitted,
            finished=self.finished,
            cancelled=self.cancelled,
            long=self.long,
            lost=self.lost,
        )

    def check(self) -> Check:
        """Fail if a request was lost, or ended in a way that nobody asked for."""
        told = f"{self.finished} of {self.submitted} requests ended, "
        told += f"{self.cancelled} were cancelled, {self.long} had long prompts"
        fault = f"{self.lost} never ended" if self.lost else self.wrong
        if not fault and self.finished + self.cancelled != self.submitted:
            fault = "the rest is not accounted for"
        verdict = "fail" if fault else "pass"
        what = f"{told}: {fault}" if fault else told
        return Check.model_validate(
            {"name": "requests", "verdict": verdict, "what": what}
        )


def stretched(prompt: Prompt, length: int) -> Prompt:
    """Repeat a prompt until it is so long."""
    return (prompt * -(-length // len(prompt)))[:length]

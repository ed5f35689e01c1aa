"""What becomes of requests to a server that join and are given up at random."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from trtspec.bench.http.stream import AnswerError
from trtspec.verify.arm import Question
from trtspec.verify.soak.record import Check, Requests
from trtspec.verify.soak.server import RefusedError, Seen, ServerDriver

JOIN, CANCEL, LONG = 0.3, 0.03, 0.1
"""Chances: of a request to join at a tick, of one in flight to be given up at a tick,
of a prompt to be long."""
TICK = 0.02
"""Seconds."""
PATIENCE = 120.0
"""Seconds after which what still runs counts as lost."""
TIMES = 6
"""How often a prompt is repeated to be a long one."""


@dataclass(slots=True)
class ServerMix:
    """The random load of a soak over HTTP; giving up closes the connection.

    :param most: twice as many requests are in flight at most.
    :param tokens: most tokens of an answer.
    """

    driver: ServerDriver
    questions: Sequence[Question]
    tokens: int
    most: int
    chance: random.Random
    patience: float = PATIENCE
    submitted: int = 0
    finished: int = 0
    cancelled: int = 0
    refused: int = 0
    long: int = 0
    lost: int = 0
    wrong: str = ""
    _flying: dict[asyncio.Task[Seen], int] = field(default_factory=dict)

    async def segment(self, done: Callable[[], bool], least: int) -> None:
        """Load the server until it is time, then wait until nothing runs.

        :param least: requests that are sent in any case.
        """
        sent = self.submitted
        while not done() or self.submitted - sent < least:
            self._join()
            self._give_up()
            await asyncio.sleep(TICK)
            self._note()
        if self._flying:
            await asyncio.wait(self._flying, timeout=self.patience)
        self._note()
        self.lost += len(self._flying)
        for task in self._flying:
            task.cancel()
        await asyncio.gather(*self._flying, return_exceptions=True)
        self._flying.clear()

    def _join(self) -> None:
        flying = len(self._flying)
        if flying and (flying >= 2 * self.most or self.chance.random() >= JOIN):
            return
        question = self.chance.choice(self.questions)
        if self.chance.random() < LONG:
            self.long += 1
            question = repeated(question, TIMES)
        tokens = self.chance.randint(1, self.tokens)
        self._flying[self.driver.begin(question, tokens)] = tokens
        self.submitted += 1

    def _give_up(self) -> None:
        for task in self._flying:
            if self.chance.random() < CANCEL and not task.done():
                task.cancel()

    def _note(self) -> None:
        for task in [one for one in self._flying if one.done()]:
            tokens = self._flying.pop(task)
            if task.cancelled():
                self.cancelled += 1
                continue
            error = task.exception()
            if isinstance(error, RefusedError):
                self.refused += 1
            elif isinstance(error, AnswerError):
                self.wrong = str(error)
            elif error is not None:
                raise error
            else:
                self.finished += 1
                if task.result().tokens > tokens:
                    self.wrong = "an answer has more tokens than were asked for"

    def record(self) -> Requests:
        """Give the counts."""
        return Requests(
            submitted=self.submitted,
            finished=self.finished,
            cancelled=self.cancelled,
            long=self.long,
            lost=self.lost,
            refused=self.refused,
        )

    def check(self) -> Check:
        """Fail if a request never ended, or ended in a way that nobody asked for."""
        told = (
            f"{self.finished} of {self.submitted} requests ended, {self.cancelled} "
            f"were given up by closing the connection, {self.refused} were refused, "
            f"{self.long} had long prompts"
        )
        fault = f"{self.lost} never ended" if self.lost else self.wrong
        if not fault and not self.finished:
            return Check(name="requests", verdict="cannot tell", what=told)
        if fault:
            return Check(name="requests", verdict="fail", what=f"{told}: {fault}")
        return Check(name="requests", verdict="pass", what=told)


def repeated(question: Question, times: int) -> Question:
    """Make a prompt so many times as long."""
    if not question.messages:
        prompt = question.prompt
        if isinstance(prompt, str):
            return replace(question, prompt=" ".join([prompt] * times))
        return replace(question, prompt=prompt * times)
    *before, last = (dict(message) for message in question.messages)
    last["content"] = " ".join([last["content"]] * times)
    return replace(question, messages=(*before, last))

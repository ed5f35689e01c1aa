"""Is a running engine sane: a few prompts, a quick look.

Most faults of speculation are silent: the server looks healthy, and acceptance is at
its floor or its ceiling, or the text is not what was asked for. Nothing here proves
that the output is the target's own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from trtspec.verify.arm import Answer, Arm, Question
from trtspec.verify.canary.look_at_drafts import (
    drafting,
    look_at_drafts,
    look_at_loss,
)
from trtspec.verify.canary.look_at_talk import look_at_talk
from trtspec.verify.canary.look_at_text import look_at_text
from trtspec.verify.canary.record import (
    CanaryResult,
    Check,
    CheckName,
    Drafting,
    folded,
    untold,
)
from trtspec.verify.canary.talk import Ask, Talker

PROMPTS = 4
"""Of those that are given: enough for a hundred draft tokens."""
MAX_TOKENS = 48
SECONDS = 60.0
_TALKED: tuple[CheckName, ...] = ("streaming", "stop strings", "usage")
_TALKS = 2
"""Prompts that are asked streamed and whole."""

Clock = Callable[[], float]


@dataclass(slots=True)
class _Canary:
    """The state of one canary."""

    arm: Arm
    questions: Sequence[Question]
    burst: int
    always_drafts: bool
    deadline: float
    clock: Clock
    checks: list[Check] = field(default_factory=list)
    rounds: dict[str, Drafting] = field(default_factory=dict)

    def ask(self, name: str, at_once: int, copies: int = 1) -> list[Answer]:
        """Ask all questions, so many times over, so many requests at once."""
        asked = [
            replace(question, id=f"{name}-{copy}-{question.id}")
            for copy in range(copies)
            for question in self.questions
        ]
        answers = list(self.arm.answer(asked, at_once).values())
        self.rounds[name] = drafting(answers, at_once)
        return answers

    def in_time(self, *names: CheckName) -> bool:
        """Whether there is time left; if not, the checks are said to be left out."""
        if self.clock() < self.deadline:
            return True
        self.checks += [untold(name, "there was no time left for it") for name in names]
        return False


def run_canary(
    arm: Arm,
    questions: Sequence[Question],
    *,
    talker: Talker | None = None,
    burst: int = 8,
    always_drafts: bool = False,
    seconds: float = SECONDS,
    clock: Clock = time.monotonic,
) -> CanaryResult:
    """Look at an engine that drafts.

    :param questions: greedy; the first few of them are asked.
    :param talker: speaks to the same engine; without it nothing is said of streams,
        stop strings and usage, and the verdict is that of the rest.
    :param burst: requests at once of the burst: as many as run at once.
    :param always_drafts: whether the method proposes something at each step.
    :param seconds: after which no further check is begun; those cannot tell.
    :raises RunError: if a request fails.
    """
    began = clock()
    chosen = [
        replace(q, max_tokens=min(q.max_tokens, MAX_TOKENS))
        for q in questions[:PROMPTS]
    ]
    canary = _Canary(arm, chosen, burst, always_drafts, began + seconds, clock)
    if chosen:
        _look(canary)
        if talker is not None and canary.in_time(*_TALKED):
            canary.checks += look_at_talk(talker, list(map(_ask, chosen[:_TALKS])))
    verdict, reasons = folded(canary.checks)
    rounds = canary.rounds
    return CanaryResult(
        verdict=verdict,
        reasons=reasons,
        checks=tuple(canary.checks),
        first=rounds.get("first"),
        repeated=rounds.get("repeat"),
        recovered=rounds.get("recovery"),
        seconds=clock() - began,
    )


def _look(canary: _Canary) -> None:
    answers = canary.ask("first", 1)
    first, always = canary.rounds["first"], canary.always_drafts
    canary.checks.append(look_at_text(answers))
    canary.checks.append(look_at_drafts(answers, first, always_drafts=always))
    if canary.in_time("repeat"):
        canary.ask("repeat", 1)
        again = canary.rounds["repeat"]
        canary.checks.append(look_at_loss("repeat", first, again))
    if canary.in_time("recovery"):
        copies = -(-canary.burst // len(canary.questions))
        canary.ask("burst", canary.burst, copies)
        canary.ask("recovery", 1)
        after = canary.rounds["recovery"]
        canary.checks.append(look_at_loss("recovery", first, after))


def _ask(question: Question) -> Ask:
    return Ask(question.id, question.prompt, question.max_tokens, question.messages)

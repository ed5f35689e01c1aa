"""An engine for canaries whose every fault is scripted."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from trtspec.verify.arm import Answer, Question
from trtspec.verify.canary import Ask, Heard

TEXT = (
    "the river runs through a valley where farmers keep sheep and every summer "
    "visitors come to walk along its banks before it reaches the sea near a small "
    "harbour whose boats go out at night"
)
WORDS = TEXT.split()


def text_of(prompt: str, tokens: int) -> str:
    """A text that belongs to the prompt; each word is a token."""
    chance = random.Random(prompt)
    return " ".join(chance.choice(WORDS) for _ in range(tokens))


@dataclass
class FakeArm:
    """Answers with scripted text and acceptance; refuses what an engine would.

    :param rate: accepted / drafted of a question by the round it is of.
    :param text: of a question.
    :param steps: verification steps per answer; None: not told.
    """

    rate: Callable[[str], float] = lambda round_: 0.5
    text: Callable[[Question], str] = lambda q: text_of(str(q.prompt), q.max_tokens)
    drafted: int | None = 60
    steps: int | None = None
    rounds: list[tuple[str, int, int]] = field(default_factory=list)
    name: str = "on"

    def answer(
        self, questions: Sequence[Question], concurrency: int
    ) -> dict[str, Answer]:
        ids = [question.id for question in questions]
        assert len(set(ids)) == len(ids), "ids are not unique"
        assert concurrency >= 1
        assert all(question.sampling.greedy for question in questions)
        round_ = ids[0].partition("-")[0]
        self.rounds.append((round_, len(questions), concurrency))
        return {question.id: self._answer(question, round_) for question in questions}

    def _answer(self, question: Question, round_: str) -> Answer:
        accepted = None
        if self.drafted is not None:
            accepted = round(self.rate(round_) * self.drafted)
        return Answer(
            id=question.id,
            tokens=None,
            text=self.text(question),
            finish="length",
            drafted=self.drafted,
            accepted=accepted,
            steps=self.steps,
        )


@dataclass
class FakeTalker:
    """Streams words, two per piece, and honours stop strings, unless told otherwise.

    :param heard: changes what it says last of all.
    :param stops: whether it honours stop strings.
    """

    heard: Callable[[Ask, Heard], Heard] = lambda ask, heard: heard
    stops: bool = True
    said: list[Ask] = field(default_factory=list)

    def say(self, asks: Sequence[Ask], concurrency: int) -> dict[str, Heard]:
        assert concurrency >= 1
        assert len({ask.id for ask in asks}) == len(asks)
        self.said += asks
        return {ask.id: self.heard(ask, self._plain(ask)) for ask in asks}

    def _plain(self, ask: Ask) -> Heard:
        text, finish = text_of(str(ask.prompt), ask.max_tokens), "length"
        for stop in ask.stop if self.stops else ():
            if stop in text:
                text, finish = text.split(stop, 1)[0], "stop"
        count = len(text.split()) if finish == "stop" else ask.max_tokens
        return Heard(
            id=ask.id,
            pieces=cut(text) if ask.stream else (text,),
            finish=finish,
            prompt_tokens=7,
            completion_tokens=count,
            total_tokens=7 + count,
        )


def cut(text: str, size: int = 9) -> tuple[str, ...]:
    """Cut a text into pieces."""
    return tuple(text[i : i + size] for i in range(0, len(text), size))


def questions(count: int = 4, tokens: int = 48) -> list[Question]:
    """Greedy questions of different prompts."""
    return [Question(f"q{i}", f"prompt {i}", tokens) for i in range(count)]

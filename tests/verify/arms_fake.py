"""Arms whose answers are scripted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from trtspec.verify.arm import Answer, Question

Said = Callable[[Question, int], Answer]


@dataclass
class FakeArm:
    """Says what it is told; notes at which concurrency it was asked."""

    name: str
    said: Said
    asked: list[int] = field(default_factory=list)

    def answer(
        self, questions: Sequence[Question], concurrency: int
    ) -> dict[str, Answer]:
        self.asked.append(concurrency)
        return {q.id: self.said(q, concurrency) for q in questions}


def tokens(*ids: int, question: str = "p0", **more) -> Answer:
    text = " ".join(f"w{i}" for i in ids)
    return Answer(question, tuple(ids), text, "length", **more)


def scripted(name: str, outputs: Mapping[str, Sequence[int]], **more) -> FakeArm:
    """An arm that gives these token ids, whatever the concurrency."""
    return FakeArm(name, lambda q, _: tokens(*outputs[q.id], question=q.id, **more))


def questions(count: int = 1, prompt=(3, 9)) -> list[Question]:
    return [Question(f"p{i}", tuple(prompt), 8) for i in range(count)]


class Logits(NamedTuple):
    one: float
    other: float


@dataclass
class FakeScorer:
    """Logits by token after any text, and a spread; notes the texts it was asked."""

    logits: Mapping[int, float]
    differences: Sequence[float] = (0.0, 0.01)
    texts: list[tuple[int, ...]] = field(default_factory=list)

    def pair(self, text: Sequence[int], one: int, other: int) -> Logits:
        self.texts.append(tuple(text))
        return Logits(self.logits[one], self.logits[other])

    def spread(
        self, prompt: Sequence[int], output: Sequence[int], width: int
    ) -> list[float]:
        return list(self.differences)

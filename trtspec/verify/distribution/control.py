"""A negative control for servers whose acceptance nobody can make wrong on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trtspec.verify.arm import Answer, Arm, Question

FACTOR = 1.4
"""Times the temperature: a shift no larger than the faults that are looked for."""


class AtAnotherTemperature:
    """An off arm that is asked at another temperature than it is told to be asked at.

    What must be found is about as large as a temperature that is ignored.
    """

    def __init__(self, arm: Arm, factor: float = FACTOR) -> None:
        self._arm = arm
        self._factor = factor

    @property
    def name(self) -> str:
        """Name of the arm and what is done to it."""
        return f"{self._arm.name}, temperature times {self._factor:g}"

    def answer(
        self, questions: Sequence[Question], concurrency: int
    ) -> dict[str, Answer]:
        """Answer all questions, each at the wrong temperature."""
        return self._arm.answer([self._wrong(one) for one in questions], concurrency)

    def _wrong(self, question: Question) -> Question:
        wrong = question.sampling.temperature * self._factor
        return replace(question, sampling=replace(question.sampling, temperature=wrong))

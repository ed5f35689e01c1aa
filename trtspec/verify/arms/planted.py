"""An engine of ours that accepts drafts by a wrong rule: what a test has to find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from trtspec.verify.arm import Answer, Question
from trtspec.verify.arms.in_process import RunnerArm
from trtspec.verify.distribution.control import FACTOR

if TYPE_CHECKING:
    from trtspec.reference.acceptance import Acceptance, Rule, Verified
    from trtspec.reference.chance import Chance
    from trtspec.reference.runner import ReferenceRunner
    from trtspec.run import SamplingParams


class PlantedArm:
    """The on arm with another rule of acceptance, for the time of an answer.

    :param rule: see ``trtspec.reference.acceptance``.
    """

    def __init__(self, name: str, runner: ReferenceRunner, rule: Rule) -> None:
        self.name = name
        self._arm = RunnerArm(name, runner, speculate=True)
        self._runner = runner
        self._rule = rule

    def answer(
        self, questions: Sequence[Question], concurrency: int
    ) -> dict[str, Answer]:
        """Answer all questions by the wrong rule; see ``Arm``."""
        with self._runner.engine.instead(rule=self._rule):
            return self._arm.answer(questions, concurrency)


def too_hot(runner: ReferenceRunner, factor: float = FACTOR) -> PlantedArm:
    """Give an arm whose rule verifies at a higher temperature than is asked for.

    Unlike a wrong resampling it shows however few drafts there are.
    """
    from trtspec.reference.acceptance import accept_exactly

    def rule(
        verified: Verified, sampling: SamplingParams, chance: Chance
    ) -> Acceptance:
        hotter = replace(sampling, temperature=sampling.temperature * factor)
        return accept_exactly(verified, hotter, chance)

    return PlantedArm(
        f"drafts accepted at {factor:g} times the temperature", runner, rule
    )

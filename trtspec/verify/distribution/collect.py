"""What each arm is asked, and its answers in a form that can be compared.

No two requests of a test have the same seed. Equal seeds on and off would make arms
agree beyond what their distributions do; equal seeds of two prompts would make prompts
depend on one another, and near-duplicates among them count as if they were two proofs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from trtspec.errors import UsageError
from trtspec.verify.arm import Answer, Arm, Question
from trtspec.verify.distribution.compare import Sample
from trtspec.verify.distribution.plan import Plan
from trtspec.verify.distribution.result import Drafts
from trtspec.verify.distribution.symbols import symbols_of

Prompts = Mapping[str, tuple[int, ...] | str | Question]
"""Id → token ids, text, or a question whose prompt or messages are asked."""

_SEEDS = 2**31 - 1
"""Seeds are below it: some servers take no larger ones."""


@dataclass(frozen=True, slots=True)
class Collected:
    """Answers of an arm to all prompts: id of the prompt → answers, seeds rising."""

    by_prompt: Mapping[str, list[Answer]]

    @property
    def answers(self) -> list[Answer]:
        """All of them."""
        return [one for answers in self.by_prompt.values() for one in answers]

    def sample(self, name: str, plan: Plan, *, as_text: bool) -> Sample:
        """Give what is compared."""
        return Sample(
            name,
            {
                prompt: [symbols_of(a, plan.places, as_text=as_text) for a in answers]
                for prompt, answers in self.by_prompt.items()
            },
        )

    def drafts(self) -> Drafts:
        """Add up what was drafted; None if any answer does not say."""
        drafted = [one.drafted for one in self.answers]
        accepted = [one.accepted for one in self.answers]
        return Drafts(drafted=_sum(drafted), accepted=_sum(accepted))


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def require_different(prompts: Prompts) -> None:
    """Refuse prompts that are no test, or one twice.

    :raises UsageError: naming them.
    """
    if not prompts:
        raise UsageError("there are no prompts", allowed="at least one prompt")
    seen: dict[object, str] = {}
    for name, asked in prompts.items():
        question = _question(asked)
        prompt = question.prompt, repr(question.messages)
        if prompt in seen:
            raise UsageError(
                f"prompts {seen[prompt]!r} and {name!r} are the same",
                allowed="prompts that differ: each counts as evidence of its own",
                action="leave one of them out, and ask for more seeds instead",
            )
        seen[prompt] = name


def _question(asked: tuple[int, ...] | str | Question) -> Question:
    return asked if isinstance(asked, Question) else Question("", asked, 1)


def ask(arm: Arm, prompts: Prompts, plan: Plan, first: int, count: int) -> Collected:
    """Ask every prompt so often, all prompts in turn.

    :param first: number of the first request per prompt; ranges of numbers that do not
        overlap give different seeds.
    :raises RunError: if a request fails.
    """
    names = list(prompts)
    questions = [
        replace(
            _question(prompts[name]),
            id=f"{number}/{place}",
            max_tokens=plan.max_tokens,
            sampling=replace(
                plan.sampling, seed=seed_of(plan, number * len(names) + place)
            ),
        )
        for number in range(first, first + count)
        for place, name in enumerate(names)
    ]
    found = arm.answer(questions, plan.concurrency)
    numbers = range(first, first + count)
    return Collected(
        {
            name: [found[f"{number}/{place}"] for number in numbers]
            for place, name in enumerate(names)
        }
    )


def seed_of(plan: Plan, number: int) -> int:
    """Give a seed for a request; different ones for different numbers.

    A multiple modulo a prime: as good as a random order of all seeds, since neighbours
    give like streams in weak generators.
    """
    return ((number + 1) * 1_640_531_527 + plan.seed * 97_003) % _SEEDS

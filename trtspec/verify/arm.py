"""What answers prompts: an engine with speculation on, or off, or a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from trtspec.run import SamplingParams


@dataclass(frozen=True, slots=True)
class Question:
    """One request of a test.

    :param id: unique within a call; answers bear it.
    :param prompt: token ids, or the text of a prompt where the arm has no tokenizer.
    :param messages: a conversation that goes in place of the prompt, for a server that
        applies the chat template itself.
    :param max_tokens: most tokens of the answer.
    :param sampling: seed included: each question of a sampling test has its own.
    """

    id: str
    prompt: tuple[int, ...] | str
    max_tokens: int
    sampling: SamplingParams = field(default_factory=SamplingParams)
    messages: tuple[Mapping[str, str], ...] = field(default=(), hash=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back.

    :param tokens: token ids; None where the arm gives text only.
    :param text: the same as text; streamed pieces joined.
    :param finish: why it ended, such as ``stop`` or ``length``; empty if not said.
    :param drafted: draft tokens; None where the arm does not say.
    :param accepted: of them, those that became output.
    :param logprobs: for each token the most likely alternatives as (token id or text,
        natural logarithm of the probability), likeliest first; None if not given.
    :param steps: verification steps; None where the arm does not say.
    :param pieces: the text of each token, where the arm tells them one by one.
    :param prompt_tokens: of the prompt, as the arm counts them; None if it does not.
    """

    id: str
    tokens: tuple[int, ...] | None
    text: str
    finish: str = ""
    drafted: int | None = None
    accepted: int | None = None
    logprobs: tuple[tuple[tuple[int | str, float], ...], ...] | None = None
    pieces: tuple[str, ...] | None = None
    steps: int | None = None
    prompt_tokens: int | None = None


class Arm(Protocol):
    """Answers questions; ``off`` and ``on`` are two of them."""

    @property
    def name(self) -> str:
        """``off``, ``on``, or what else tells it from the others."""
        ...

    def answer(
        self, questions: Sequence[Question], concurrency: int
    ) -> dict[str, Answer]:
        """Answer all questions, at most so many at once; by id.

        :raises RunError: if one of them fails.
        """
        ...

"""How long a workload's prompts are, and how much of its answers they contain."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trtspec.advise.repetition import copied_share
from trtspec.recipe.answers import Answer, answers_of
from trtspec.recipe.prompt_layouts import Messages
from trtspec.recipe.workload import load_prompts

REPEATS = 0.3
"""Share of copied tokens from which on the outputs count as repeating their inputs."""

_BYTES_PER_TOKEN = 3
_PIECES = re.compile(r"\w+|[^\w\s]")
_MOST_TOKENS = 200_000
"""Tokens that repetition is estimated from: a sample is enough."""

Encode = Callable[[Sequence[str]], list[list[int]]]


@dataclass(frozen=True, slots=True)
class WorkloadFacts:
    """What a prompts file tells before anything runs.

    :param longest_prompt: in tokens, without a chat template.
    :param longest_answer: the same of the answers in the file, of which earlier turns
        of the assistant are some; None without any.
    :param counted: whether the target's tokenizer counted; else three bytes are taken
        for a token, which overestimates most texts.
    :param answers: prompts that have an answer.
    :param copied: share of the answers' tokens that could be copied from prompt or
        answer so far; without answers, of the prompts' from the prompt so far.
    """

    path: Path
    prompts: int
    longest_prompt: int
    longest_answer: int | None
    counted: bool
    answers: int
    copied: float | None

    @property
    def repeats(self) -> bool:
        """Whether the file's own answers show that outputs repeat their inputs."""
        return bool(self.answers) and (self.copied or 0.0) >= REPEATS


def read_workload(path: Path, encode: Encode | None) -> WorkloadFacts:
    """Read a prompts file.

    :param encode: the target's tokenizer, over several texts; None if it is not here.
    :raises UsageError: with file:line of what is no prompt.
    """
    prompts = load_prompts(path, "--workload")
    texts = [_text(prompt.messages) for prompt in prompts]
    answered = [[answer.text for answer in answers_of(prompt)] for prompt in prompts]
    answers = [text for several in answered for text in several]
    asked = (Answer((), text) for text in texts)  # a prompt against itself
    told = (answer for prompt in prompts for answer in answers_of(prompt))
    pairs = _sample(told if answers else asked)
    return WorkloadFacts(
        path=path,
        prompts=len(prompts),
        longest_prompt=_longest(texts, encode) or 1,
        longest_answer=_longest(answers, encode),
        counted=encode is not None,
        answers=sum(map(bool, answered)),
        copied=copied_share([(_split(before), _split(text)) for before, text in pairs]),
    )


def _text(messages: Messages) -> str:
    return "\n".join(message["content"] for message in messages)


def _sample(answers: Iterable[Answer]) -> Iterator[tuple[str, str]]:
    """Give what stands before a text, and the text, until there is enough of both."""
    left = _MOST_TOKENS * _BYTES_PER_TOKEN
    for messages, text in answers:
        if left <= 0:
            return
        before = _text(messages)
        left -= len(before) + len(text)
        yield before, text


def _split(text: str) -> list[str]:
    """Cut into words and signs, which stand in for tokens."""
    return _PIECES.findall(text)


def _longest(texts: Sequence[str], encode: Encode | None) -> int | None:
    if not texts:
        return None
    if encode is None:
        return max(-(-len(text.encode()) // _BYTES_PER_TOKEN) for text in texts)
    return max(map(len, encode(texts)))

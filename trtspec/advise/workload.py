"""How long a workload's prompts are, and how much of its answers they contain."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trtspec.advise.repetition import copied_share
from trtspec.recipe.workload import Prompt, load_prompts

ANSWERS = (
    "answer", "answers", "reference", "references", "response", "output", "completion",
)  # fmt: skip
"""Keys of a line that may hold what the model is expected to say."""

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
    :param longest_answer: the same of the answers in the file; None without any.
    :param counted: whether the target's tokenizer counted; else three bytes are taken
        for a token, which overestimates most texts.
    :param answers: lines that have an answer.
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
    answers = tuple(_answers(path))
    texts = [_text(prompt) for prompt in prompts]
    pairs = _pairs(texts, answers)
    return WorkloadFacts(
        path=path,
        prompts=len(prompts),
        longest_prompt=_longest(texts, encode) or 1,
        longest_answer=_longest([a for a in answers if a], encode),
        counted=encode is not None,
        answers=sum(map(bool, answers)),
        copied=copied_share([(_split(before), _split(text)) for before, text in pairs]),
    )


def _text(prompt: Prompt) -> str:
    return "\n".join(message["content"] for message in prompt.messages)


def _answers(path: Path) -> Iterator[str]:
    """Give each line's answer; empty where it has none."""
    # not splitlines: JSON may have line breaks of Unicode in a text
    for line in path.read_text(encoding="utf-8-sig").split("\n"):
        if line.strip():
            entry = json.loads(line)
            found = next((entry[key] for key in ANSWERS if entry.get(key)), "")
            first = found[0] if isinstance(found, list) else found
            yield first if isinstance(first, str) else ""


def _pairs(prompts: Sequence[str], answers: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Give what is to be compared: prompts with answers, or prompts with themselves."""
    left = _MOST_TOKENS * _BYTES_PER_TOKEN
    asked = zip(prompts, answers, strict=False) if any(answers) else ()
    for before, text in asked or ((("", prompt)) for prompt in prompts):
        if text and left > 0:
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

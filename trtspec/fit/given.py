"""Answers by others, along which a drafter learns what the target would have said.

Cheaper than the target's own: the target reads a text several times faster than it
writes one. The drafter sees other contexts than its own target leads to, so such texts
are an addition, not a replacement.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from trtspec.errors import UsageError
from trtspec.fit.answers import Answer
from trtspec.recipe.workload import Prompt, load_prompts
from trtspec.run.tokens import TextCodec

GIVEN = "given"
"""First word of the sources of such answers."""


def given_answers(
    directory: Path, texts: Path, *, longest_prompt: int, longest_answer: int
) -> Iterator[Answer]:
    """Tokenize conversations with an answer, as the target's chat template has them.

    :param directory: the target's.
    :param texts: JSONL; a line is a prompt as in a workload, and ``answer``.
    :param longest_prompt: in tokens; longer ones are left out.
    :param longest_answer: in tokens; longer ones are cut.
    :raises UsageError: with file:line of what has no answer, or if the chat template
        changes the answers.
    """
    codec = TextCodec(directory)
    for prompt, answer in _exchanges(texts):
        begun, said = codec.encode_exchange(prompt.messages, answer)
        if not 0 < len(begun) <= longest_prompt:
            continue
        said = _to_the_end(said, codec.end_tokens)[:longest_answer]
        yield Answer(
            f"{GIVEN}-{texts.stem}-{prompt.id}",
            f"{GIVEN}/{prompt.category or texts.stem}",
            None,
            (*begun, *said),
            ((len(begun), len(begun) + len(said)),),
        )


def _exchanges(texts: Path) -> Iterator[tuple[Prompt, str]]:
    prompts = load_prompts(texts)
    lines = enumerate(texts.read_bytes().splitlines(), start=1)
    wanted = ((number, json.loads(line)) for number, line in lines if line.strip())
    for prompt, (number, entry) in zip(prompts, wanted, strict=True):
        answer = entry.get("answer")
        if not isinstance(answer, str) or not answer.strip():
            raise UsageError(
                "the line has no answer",
                where=f"{texts}:{number}",
                allowed='a prompt, and "answer": a text',
            )
        yield prompt, answer


def _to_the_end(tokens: tuple[int, ...], ends: frozenset[int]) -> tuple[int, ...]:
    """Leave out what a template writes behind the end of an answer."""
    for place, token in enumerate(tokens):
        if token in ends:
            return tokens[: place + 1]
    return tokens

"""Answers by others, along which a drafter learns what the target would have said.

Cheaper than the target's own: the target reads a text several times faster than it
writes one. The drafter sees other contexts than its own target leads to, so such texts
are an addition, not a replacement.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trtspec.errors import UsageError
from trtspec.fit.answers import Answer
from trtspec.recipe.prompt_layouts import ANSWERS
from trtspec.recipe.workload import load_prompts
from trtspec.run.tokens import TextCodec

GIVEN = "given"
"""First word of the sources of such answers."""


def given_answers(
    directory: Path, texts: Path, *, longest_prompt: int, longest_answer: int
) -> Iterator[Answer]:
    """Tokenize conversations with an answer, as the target's chat template has them.

    :param directory: the target's.
    :param texts: JSONL; a line is a prompt as in a workload, with an answer.
    :param longest_prompt: in tokens; longer ones are left out.
    :param longest_answer: in tokens; longer ones are cut.
    :raises UsageError: with file:line of what has no answer, or if the chat template
        changes the answers.
    """
    codec = TextCodec(directory)
    for place, prompt in enumerate(load_prompts(texts)):
        if not prompt.answer:
            raise UsageError(
                "the line has no answer",
                where=f"{texts}:{_line(texts, place)}",
                allowed=f"a prompt, and a text under {', '.join(ANSWERS)}",
            )
        begun, said = codec.encode_exchange(prompt.messages, prompt.answer)
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


def _line(texts: Path, place: int) -> int:
    """Give the number of the line that holds a prompt: blank ones hold none.

    :param place: of the prompt, from 0.
    """
    with texts.open("rb") as stream:
        lines = enumerate(stream, start=1)
        written = [n for n, line in lines if line.decode("utf-8-sig").strip()]
    return written[place]


def _to_the_end(tokens: tuple[int, ...], ends: frozenset[int]) -> tuple[int, ...]:
    """Leave out what a template writes behind the end of an answer."""
    for place, token in enumerate(tokens):
        if token in ends:
            return tokens[: place + 1]
    return tokens

"""`fit_drafter.py texts`: answers by others, to fit drafters on besides."""

from __future__ import annotations

import argparse

from rich.console import Console

from trtspec.fit.given import given_answers
from trtspec.fit.writing import appending, begin_file
from trtspec.models import describe


def run(options: argparse.Namespace) -> None:
    """Add the conversations that the file lacks."""
    vocabulary = describe(options.target).vocabulary_rows
    names = [path.name for path in options.texts]
    there = begin_file(options.out, options.target, vocabulary, texts=names)
    tokens = 0
    with appending(options.out) as append:
        for path in options.texts:
            for answer in given_answers(
                options.target,
                path,
                longest_prompt=options.prompt_tokens,
                longest_answer=options.answer_tokens,
            ):
                if answer.id not in there:
                    append(answer)
                    tokens += answer.answered
    Console(stderr=True).print(f"{tokens} tokens of answers were added: {options.out}")

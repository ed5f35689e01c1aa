"""`fit_drafter.py answers`: the target writes what drafters are fitted on."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from trtspec.errors import UsageError
from trtspec.fit.answers import Answer
from trtspec.fit.conversations import Conversation, conversations
from trtspec.fit.generate import Lengths
from trtspec.fit.writing import load_fast, write_answers
from trtspec.recipe.workload import Prompt, load_prompts
from trtspec.reference.threads import use_threads


def run(options: argparse.Namespace) -> None:
    """Write the answers that the file lacks."""
    use_threads(options.threads)
    temperatures = _temperatures(options.temperatures)
    target = load_fast(options.target, options.dtype, options.device)
    wanted = list(
        conversations(
            options.target,
            _prompts(options.prompts),
            options.own_turns,
            temperatures,
            options.seed,
        )
    )
    if not wanted:
        raise UsageError(
            "there is nothing to answer",
            where="--prompts, --own-turns",
            allowed="a file of prompts, a number of turns, or both",
        )
    lengths = Lengths(options.prompt_tokens, options.answer_tokens)
    tokens = _write(options, target, wanted, lengths)
    Console(stderr=True).print(f"{tokens} tokens of answers were added: {options.out}")


def _write(
    options: argparse.Namespace,
    target: object,
    wanted: list[Conversation],
    lengths: Lengths,
) -> int:
    tokens = 0
    columns = (TextColumn("answers"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("answers", total=len(wanted))

        def told(answer: Answer) -> None:
            nonlocal tokens
            tokens += answer.answered
            progress.advance(bar)

        write_answers(
            options.out,
            target,  # type: ignore[arg-type]
            wanted,
            lengths,
            slots=options.slots,
            told=told,
            seed=options.seed,
            temperatures=options.temperatures,
            prompts=[path.name for path in options.prompts],
            own_turns=options.own_turns,
            answer_tokens=lengths.answer,
        )
    return tokens


def _temperatures(text: str) -> list[float]:
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = [-1.0]
    if min(found) < 0:
        raise UsageError(
            f"temperatures {text}",
            where="--temperatures",
            allowed="numbers from 0 on, with commas between them",
        )
    return found


def _prompts(paths: list[Path]) -> list[Prompt]:
    """Read all files; an id that is in two of them gets its file's name before it."""
    found: dict[str, Prompt] = {}
    for path in paths:
        for prompt in load_prompts(path):
            name = prompt.id if prompt.id not in found else f"{path.stem}-{prompt.id}"
            found[name] = Prompt(name, prompt.category or path.stem, prompt.messages)
    return list(found.values())

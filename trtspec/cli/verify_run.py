"""From the arguments of ``trtspec verify`` to its document."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from trtspec.bench.rundir import now
from trtspec.cli.verify_parts import RUNS, Context, SkipError, chosen_parts
from trtspec.cli.verify_subject import Subject
from trtspec.errors import UsageError
from trtspec.recipe import load_prompts
from trtspec.verify.verdict import Part, Skipped, Verification, fold, sentence_of


def run_verification(asked: Mapping[str, Any]) -> Verification:
    """Load what is asked for, run its parts one after the other, fold their verdicts.

    :param asked: the command's parameters, by name.
    :raises TrtspecError: for anything that can be seen to be wrong before, and if an
        arm fails.
    """
    wanted = chosen_parts(asked)
    if asked["prompts"]:
        load_prompts(asked["prompts"], "--prompts")
    with _opened(asked) as subject:
        started, begin = now(), time.perf_counter()
        context = Context(subject, asked, _tell)
        parts: list[Part] = []
        skipped: list[Skipped] = []
        for name in wanted:
            try:
                parts.append(_run(context, name))
            except SkipError as why:
                skipped.append(Skipped(name=name, why=str(why)))
        skipped += [
            Skipped(name=name, why="not asked for")
            for name in RUNS
            if name not in wanted
        ]
        return Verification(
            name=subject.name,
            verdict=fold(part.verdict for part in parts),
            sentence=sentence_of(parts, skipped),
            started=started,
            seconds=time.perf_counter() - begin,
            arms=subject.arms,
            prompts=subject.prompts,
            parts=tuple(parts),
            skipped=tuple(skipped),
            conditions=subject.conditions,
        )


def _run(context: Context, name: Any) -> Part:
    begin = time.perf_counter()
    figures, summary = RUNS[name](context)
    return Part(
        name=name,
        verdict=figures.verdict,
        summary=tuple(summary),
        reasons=figures.reasons,
        seconds=time.perf_counter() - begin,
        figures=figures,
    )


def _tell(text: str) -> None:
    click.echo(text, err=True)


@contextmanager
def _opened(asked: Mapping[str, Any]) -> Iterator[Subject]:
    if bool(asked["artifacts"]) == bool(asked["addresses"]):
        raise UsageError(
            "artifacts and --url" if asked["addresses"] else "nothing to verify",
            allowed="either an artifact or recipe, or --url off=URL --url on=URL",
            action="see trtspec verify --help",
        )
    if asked["addresses"]:
        from trtspec.cli.verify_servers import open_servers

        with open_servers(asked) as subject:
            yield subject
        return
    from trtspec.cli.verify_artifacts import open_artifacts

    with open_artifacts(asked) as subject:
        yield subject

"""Runs planned commands with one flag changed, and tells whether anybody noticed."""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.trtllm.engine.projects import Workshop
from trtspec.build.command import CommandError
from trtspec.build.progress import Progress
from trtspec.build.resolve import inspected, named
from trtspec.build.stage import Stage, StageContext
from trtspec.errors import BuildError
from trtspec.recipe import load_recipe
from trtspec.trtllm.engine import running

Change = Callable[[list[str], int, int], list[str]]


def misspelled(words: list[str], start: int, end: int) -> list[str]:
    """Leave the last letter of a flag out."""
    return [*words[:start], words[start][:-1], *words[start + 1 :]]


def dropped(words: list[str], start: int, end: int) -> list[str]:
    """Leave a flag out, with its values."""
    return words[:start] + words[end:]


def flags(words: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Give where each flag with its values begins and ends."""
    starts = [i for i, word in enumerate(words) if word.startswith("--")]
    spans = zip(starts, [*starts[1:], len(words)], strict=True)
    return {words[start]: (start, end) for start, end in spans}


def noticed(workshop: Workshop, recipe: Path, change: Change) -> dict[str, bool]:
    """Run every stage once for each of its flags, with that flag changed.

    :returns: per ``stage --flag`` whether the program failed, or what is read back
        tells of it.
    """
    with workshop.open() as backend, pytest.MonkeyPatch.context() as patch:
        stages = backend.stages(inspected(named(load_recipe(recipe))))
        return dict(_noticed(stages, workshop.folder / "trials", change, patch))


def _noticed(
    stages: Sequence[Stage], folder: Path, change: Change, patch: pytest.MonkeyPatch
) -> Iterator[tuple[str, bool]]:
    outputs: dict[str, Path] = {}
    for stage in (stage for stage in stages if stage.command is not None):
        outputs[stage.name] = folder / stage.name / "sound" / "output"
        usual = _told(stage, outputs, outputs[stage.name], patch, None)
        assert usual is not None, f"{stage.name} does not work as it is"
        for flag in flags(stage.command.arguments):
            trial = folder / stage.name / f"without{flag}" / "output"
            told = _told(stage, outputs, trial, patch, (flag, change))
            yield f"{stage.name} {flag}", told != usual


def _told(
    stage: Stage,
    outputs: dict[str, Path],
    output: Path,
    patch: pytest.MonkeyPatch,
    mutation: tuple[str, Change] | None,
) -> list[str] | None:
    """Give what a stage tells of changes; None if it fails."""
    lines: list[str] = []
    output.mkdir(parents=True)
    used = {earlier.name: outputs[earlier.name] for earlier in stage.uses}
    log = output.parent / "stage.log"

    def run_command(arguments: Sequence[str], *, directory: Path, **_: object) -> None:
        words = list(arguments)
        if mutation is not None:
            flag, change = mutation
            words = change(words, *flags(words)[flag])
        _run_in_process(words, directory)

    patch.setattr(running, "run_command", run_command)
    try:
        stage.action(StageContext(output, used, log, Progress(lines.append)))
    except BuildError:
        return None
    return lines


def _run_in_process(words: list[str], directory: Path) -> None:
    """Run a stand-in inside this process: a new one for each would take long."""
    argv = words[1:] if words[0] == sys.executable else words
    said = io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        warnings.catch_warnings(),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
    ):
        patch.setattr(sys, "argv", argv)
        patch.setattr(sys, "path", list(sys.path))
        patch.chdir(directory)
        warnings.simplefilter("ignore", FutureWarning)
        try:
            runpy.run_path(argv[0], run_name="__main__")
        except SystemExit as ended:
            if ended.code:
                raise CommandError(f"{ended.code}: {said.getvalue()}", action="") from (
                    ended
                )
        except Exception as error:
            raise CommandError(f"{type(error).__name__}: {error}", action="") from error

"""What is a tuning, and how it is read back: its document, and the bench beside it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from trtspec.bench.rundir import PLAN, BenchRun, load_run
from trtspec.report.reading import read_document
from trtspec.tune.confirm import measurements
from trtspec.tune.paths import COSTS, RESULT, TRACES
from trtspec.tune.result import SCHEMA, Measurement, TuneResult


@dataclass(frozen=True)
class LoadedTuning:
    """A tuning as it was read back.

    :param path: its directory.
    :param run: the bench that the choice was confirmed with; None if there was none, or
        if its directory is gone.
    """

    path: Path
    result: TuneResult
    run: BenchRun | None

    @cached_property
    def measured(self) -> dict[int, dict[str, Measurement]]:
        """What the bench said, by concurrency and arm."""
        return measurements(self.run.result) if self.run else {}


def is_tuning(path: Path) -> bool:
    """Whether a path means a tuning: its directory, or the result.json in it."""
    directory = path if path.is_dir() else path.parent
    named = path.is_dir() or path.name == RESULT
    inside = (directory / RESULT, directory / TRACES, directory / COSTS)
    return (
        named
        and all(part.exists() for part in inside)
        and not (directory / PLAN).exists()
    )


def load_tuning(path: Path) -> LoadedTuning:
    """Read a tuning.

    :raises UsageError: if its document is none.
    """
    directory = path if path.is_dir() else path.parent
    result = read_document(TuneResult, directory / RESULT, "tune", SCHEMA)
    return LoadedTuning(directory, result, _run(directory, result))


def _run(directory: Path, result: TuneResult) -> BenchRun | None:
    if result.confirmation is None:
        return None
    run = directory / result.confirmation.run
    return load_run(run) if (run / PLAN).is_file() else None

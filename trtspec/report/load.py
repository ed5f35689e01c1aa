"""What the paths of a report are: runs of ours, or results of other tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trtspec.bench.comparable import (
    Difference,
    differences,
    require_comparable,
    unneeded_keys,
)
from trtspec.bench.interchange import ForeignResult, read_foreign
from trtspec.bench.rundir import PLAN, RESULT, BenchRun, load_run
from trtspec.errors import UsageError

_ALLOWED = (
    "a directory that trtspec bench wrote, such as runs/TIME-NAME; a file of "
    "trtllm-bench --report_json; a result of AIPerf"
)


@dataclass(frozen=True, slots=True)
class Differing:
    """A condition in which a run is not like the first one.

    :param run: name of the other run.
    """

    run: str
    difference: Difference


@dataclass(frozen=True, slots=True)
class Loaded:
    """Everything that a report is of.

    :param differing: conditions that differ: those that matter were allowed to.
    :param unneeded: keys that were allowed to differ, and do not.
    """

    runs: tuple[BenchRun, ...] = ()
    foreign: tuple[ForeignResult, ...] = ()
    differing: tuple[Differing, ...] = ()
    unneeded: tuple[str, ...] = ()


def load_all(paths: Sequence[Path], allowed: Sequence[str]) -> Loaded:
    """Read everything, and refuse runs whose conditions differ in what matters.

    :param allowed: keys of conditions that may differ.
    :raises UsageError: for a path that is neither, or runs that must not be compared;
        each difference is named.
    """
    runs, foreign = [], []
    for path in dict.fromkeys(paths):
        if _is_run(path):
            runs.append(load_run(path))
        else:
            foreign.append(_foreign(path))
    plans = [run.result.plan for run in runs]
    if len(plans) > 1 or allowed:
        require_comparable(plans, allowed)
    return Loaded(
        tuple(runs),
        tuple(foreign),
        tuple(_differing(runs)),
        unneeded_keys(plans, allowed),
    )


def _is_run(path: Path) -> bool:
    directory = path if path.is_dir() else path.parent
    named = path.is_dir() or path.name == RESULT
    return named and (directory / PLAN).is_file()


def _foreign(path: Path) -> ForeignResult:
    if not path.exists():
        raise UsageError(f"{path} does not exist", where="RUNS", allowed=_ALLOWED)
    found = read_foreign(path)
    if found is None:
        raise UsageError(
            f"{path} is no run of trtspec bench, and no result of a tool that is known",
            where="RUNS",
            allowed=_ALLOWED,
        )
    return found


def _differing(runs: Sequence[BenchRun]) -> Iterator[Differing]:
    """Compare every run with the first."""
    for run in runs[1:]:
        for found in differences(runs[0].result.plan, run.result.plan):
            yield Differing(run.result.plan.name, found)

"""What the paths of a report are: what ours wrote, or other tools' results."""

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
from trtspec.report.tuning.load import LoadedTuning, is_tuning, load_tuning
from trtspec.report.verification import (
    LoadedVerification,
    is_verification,
    load_verification,
)

_ALLOWED = (
    "a directory that trtspec bench wrote, such as runs/TIME-NAME, or trtspec tune; a "
    "document of trtspec verify; a file of trtllm-bench --report_json; a result of "
    "AIPerf"
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
    tunings: tuple[LoadedTuning, ...] = ()
    verifications: tuple[LoadedVerification, ...] = ()


def load_all(paths: Sequence[Path], allowed: Sequence[str]) -> Loaded:
    """Read everything, and refuse runs whose conditions differ in what matters.

    :param allowed: keys of conditions that may differ.
    :raises UsageError: for a path that is neither, or runs that must not be compared;
        each difference is named.
    """
    runs, foreign, tunings, verifications = [], [], [], []
    given: dict[Path, Path] = {}
    for path in paths:
        given.setdefault(_place(path), path)
    for path in given.values():
        if _is_run(path):
            runs.append(load_run(path))
        elif is_tuning(path):
            tunings.append(load_tuning(path))
        elif is_verification(path):
            verifications.append(load_verification(path))
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
        tuple(tunings),
        tuple(verifications),
    )


def differing_file(run: BenchRun) -> str:
    """Say that a run's result.json is not what its records give."""
    return (
        f"{run.path / RESULT} says something else than the records beside it: it was "
        "changed, or another version computed it. What the records give is shown."
    )


def _place(path: Path) -> Path:
    """Give what a path means: two that name one run count once."""
    place = path.resolve()
    ours = place.name == RESULT and (_is_run(place) or is_tuning(place))
    return place.parent if ours else place


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

"""Where a run's records lie: one directory that grows block by block.

    plan.json       what is measured, how, under which conditions; written first
    blocks.jsonl    one line per block, warm-up included
    samples.jsonl   one line per counted request
    failures.jsonl  one line per request that brought no answer
    result.json     what follows; written at the end, whole or not at all
    log.txt         what was said while it ran

A block's samples are written before its line in blocks.jsonl, and both are on disk
before the next block begins: what a killed run leaves is whole up to its last block.
One process at a time writes there.

What result.json says of the numbers is never taken on trust: it is computed again from
the records whenever a run is read.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from math import isclose
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from trtspec.bench.one_writer import OneWriter
from trtspec.bench.paths import writing
from trtspec.bench.records import Block, Failure, Record, Sample
from trtspec.bench.result import SCHEMA, BenchResult, Plan
from trtspec.bench.summary import Raw, break_evens, summarize
from trtspec.errors import RunError, UsageError
from trtspec.files import write_atomic

PLAN, RESULT, LOG = "plan.json", "result.json", "log.txt"
BLOCKS, SAMPLES, FAILURES = "blocks.jsonl", "samples.jsonl", "failures.jsonl"
FILES = (PLAN, BLOCKS, SAMPLES, FAILURES, RESULT, LOG)

_DIGITS = 1e-6
"""Relative difference of two numbers that are the same, computed elsewhere."""

_WORDING = frozenset({"reason", "what"})
"""Sentences of a result, which another version may put otherwise."""

RecordT = TypeVar("RecordT", bound=Record)


@dataclass(frozen=True, slots=True)
class BenchRun:
    """A run as it was read back, or as it has just ended.

    :param unsaved: why not all of it could be written; None if it was.
    :param file_differs: whether its result.json says something else than ``result``,
        which is what its records give.
    """

    path: Path
    result: BenchResult
    raw: Raw
    unsaved: RunError | None = None
    file_differs: bool = False


class RunDirectory:
    """The directory of a run that is being measured.

    :param path: exists and has a plan.
    :param writer: keeps others out of it; it is let go when the result is written.
    """

    def __init__(self, path: Path, plan: Plan, raw: Raw, writer: OneWriter) -> None:
        self.path = path
        self.plan = plan
        self._writer = writer
        self._blocks = list(raw.blocks)
        self._samples = list(raw.samples)
        self._failures = list(raw.failures)

    @classmethod
    def create(cls, path: Path, plan: Plan) -> RunDirectory:
        """Make the directory and write the plan.

        :raises UsageError: if a run is there already.
        :raises RunError: if it cannot be written.
        """
        require_no_run(path)
        with writing(path):
            path.mkdir(parents=True, exist_ok=True)
            writer = OneWriter(path)
            require_no_run(path)  # nobody began one since
            write_atomic(path / PLAN, plan.model_dump_json(indent=1) + "\n")
        return cls(path, plan, Raw(), writer)

    @classmethod
    def reopen(cls, path: Path) -> RunDirectory:
        """Go on with a run: keep its whole blocks, drop what was half written.

        :raises UsageError: if there is no run, it cannot be read, or it is being
            measured at this moment.
        """
        plan = load_plan(path)
        with writing(path):
            writer = OneWriter(path)
            raw = load_raw(path)
            _rewrite(path / BLOCKS, raw.blocks)
            _rewrite(path / SAMPLES, raw.samples)
            _rewrite(path / FAILURES, raw.failures)
        return cls(path, plan, raw, writer)

    @property
    def raw(self) -> Raw:
        """Everything recorded so far."""
        return Raw(self._blocks, self._samples, self._failures)

    def has(self, load: str, arm: str, block: int) -> bool:
        """Whether a counted block was recorded."""
        return any((b.load, b.arm, b.block) == (load, arm, block) for b in self._blocks)

    @property
    def complete(self) -> bool:
        """Whether nothing is left to measure."""
        return is_complete(self.plan, self.raw)

    def failed(self, load: str) -> bool:
        """Whether a request of a load brought no answer."""
        return any(f.load == load for f in self._failures)

    def add_block(self, block: Block, samples: Iterable[Sample]) -> None:
        """Write a block's samples, then the block.

        :raises RunError: if they cannot be written.
        """
        new = list(samples)
        self._append(SAMPLES, new)
        self._append(BLOCKS, [block])
        self._samples.extend(new)
        self._blocks.append(block)

    def add_failures(self, failures: Iterable[Failure]) -> None:
        """Write which requests brought no answer.

        :raises RunError: if they cannot be written.
        """
        new = list(failures)
        self._append(FAILURES, new)
        self._failures.extend(new)

    def note(self, line: str) -> None:
        """Write a line of the log; a log that cannot be written stops nothing."""
        with suppress(OSError), (self.path / LOG).open("a", encoding="utf-8") as file:
            file.write(f"{now()} {' '.join(line.split())}\n")

    def finish(self, *, partial: bool, finished: str = "") -> BenchRun:
        """Compute and write the result, and let others write in the directory.

        If it cannot be written, the run says so.

        :param partial: whether blocks are missing.
        :param finished: when it ended; now if it is not given.
        """
        result = result_of(self.plan, self.raw, partial=partial, finished=finished)
        text = result.model_dump_json(by_alias=True, indent=1) + "\n"
        try:
            with writing(self.path / RESULT):
                write_atomic(self.path / RESULT, text)
        except RunError as error:
            return BenchRun(self.path, result, self.raw, error)
        finally:
            self._writer.let_go()
        return BenchRun(self.path, result, self.raw)

    def _append(self, name: str, records: list[RecordT]) -> None:
        if not records:
            return
        path = self.path / name
        with writing(path), path.open("a", encoding="utf-8") as file:
            file.writelines(record.model_dump_json() + "\n" for record in records)
            file.flush()
            os.fsync(file.fileno())


def require_no_run(path: Path) -> None:
    """Refuse a directory that has a run.

    :raises UsageError: naming it.
    """
    if (path / PLAN).exists():
        raise UsageError(
            f"{path} holds a run already",
            where="--output",
            action="name another directory, or go on with it: --resume",
        )


def is_complete(plan: Plan, raw: Raw) -> bool:
    """Whether every block was measured, but for loads under which a request failed."""
    have = {(b.load, b.arm, b.block) for b in raw.blocks}
    failed = {f.load for f in raw.failures}
    return all(
        (load.key, arm.name, block) in have
        for load in plan.settings.loads
        if load.key not in failed
        for arm in plan.arms
        for block in range(1, plan.settings.repeats + 1)
    )


def result_of(
    plan: Plan, raw: Raw, *, partial: bool, finished: str = ""
) -> BenchResult:
    """Compute the result from the raw records.

    :param finished: when the last of it was measured; now if it is not given.
    """
    cells = summarize(plan, raw)
    return BenchResult(
        plan=plan,
        finished=finished or now(),
        partial=partial,
        cells=cells,
        break_even=break_evens(plan, cells),
    )


def load_run(path: Path) -> BenchRun:
    """Read a run; of one that was killed, what it has, marked partial.

    :param path: its directory, or the result.json in it.
    :raises UsageError: if there is none, it cannot be read, or records are missing
        that its result counts.
    """
    directory = path.parent if path.name == RESULT else path
    plan = load_plan(directory)
    raw = load_raw(directory)
    file = directory / RESULT
    kept = _load(file, BenchResult) if file.exists() else None
    partial = not is_complete(plan, raw)
    if kept and not kept.partial and partial:
        raise _lost(directory)
    result = result_of(plan, raw, partial=partial, finished=_ended(plan, raw))
    if kept is None or kept.partial != partial:
        return BenchRun(directory, result, raw)  # it was killed, or goes on just now
    if differs := not _same(kept, result):
        return BenchRun(directory, result, raw, file_differs=differs)
    return BenchRun(
        directory, result.model_copy(update={"finished": kept.finished}), raw
    )


def _lost(directory: Path) -> UsageError:
    return UsageError(
        f"{SAMPLES} or {BLOCKS} lacks records that {RESULT} counts",
        where=str(directory),
        allowed="a run with all of its files",
        action="put them back; or measure what is missing: trtspec bench --resume "
        f"{directory}",
    )


def _same(kept: BenchResult, result: BenchResult) -> bool:
    """Whether two results say the same, but for last digits and another wording."""
    one, other = (
        r.model_dump(mode="json", exclude={"finished"}) for r in (kept, result)
    )
    return _alike(one, other)


def _alike(one: object, other: object) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        keys = one.keys() - _WORDING
        return keys == other.keys() - _WORDING and all(
            _alike(one[key], other[key]) for key in keys
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=_DIGITS, abs_tol=_DIGITS)
    return one == other


def _ended(plan: Plan, raw: Raw) -> str:
    """Give when the last block ended, ISO 8601 in seconds; else when the run began."""
    ends = []
    for block in raw.blocks:
        with suppress(ValueError, OverflowError):  # no time, or none on this earth
            start = datetime.fromisoformat(block.started)
            ends.append(start + timedelta(seconds=block.wall_seconds))
    return max(ends).isoformat(timespec="seconds") if ends else plan.started


def load_plan(directory: Path) -> Plan:
    """Read what was to be measured.

    :raises UsageError: if the directory is no run.
    """
    file = directory / PLAN
    if not file.is_file():
        raise UsageError(
            f"{directory} is no run of trtspec bench: it has no {PLAN}",
            allowed="a directory that trtspec bench wrote, such as runs/TIME-NAME",
        )
    return _load(file, Plan)


def load_raw(directory: Path) -> Raw:
    """Read the raw records of all whole blocks: those that have all their samples.

    :raises UsageError: naming the line that is none of ours, or the file in which
        something is there twice.
    """
    blocks = _lines(directory / BLOCKS, Block)
    samples = _lines(directory / SAMPLES, Sample)
    _require_once([_place(b) for b in blocks if not b.warm_up], directory / BLOCKS)
    samples = _of(blocks, samples)
    _require_once([(*_place(s), s.prompt_id) for s in samples], directory / SAMPLES)
    counts = Counter(map(_place, samples))
    blocks = [b for b in blocks if b.warm_up or counts[_place(b)] == b.requests]
    samples = _of(blocks, samples)
    return Raw(blocks, samples, _lines(directory / FAILURES, Failure))


def _of(blocks: Sequence[Block], samples: Sequence[Sample]) -> list[Sample]:
    """Give the samples of these blocks; of others a kill came before their end."""
    recorded = set(map(_place, blocks))
    return [s for s in samples if _place(s) in recorded]


def _place(record: Block | Sample) -> tuple[str, str, int]:
    return record.load, record.arm, record.block


def _require_once(places: Sequence[tuple[object, ...]], file: Path) -> None:
    """Refuse records that would count twice.

    :raises UsageError: naming the first.
    """
    twice = [place for place, count in Counter(places).items() if count > 1]
    if twice:
        raise UsageError(
            f"{' / '.join(map(str, twice[0]))} is there twice",
            where=str(file),
            allowed="each block, and each of its requests, once",
            action="measure again; two runs must not write in one directory",
        )


def _load(file: Path, kind: type[RecordT]) -> RecordT:
    try:
        return kind.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot be read: {error}", where=str(file)) from error
    except ValidationError as error:
        raise _invalid(error, str(file)) from None


def _lines(file: Path, kind: type[RecordT]) -> list[RecordT]:
    """Read JSON lines; a last line that was cut off by a kill is left out."""
    if not file.exists():
        return []
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot be read: {error}", where=str(file)) from error
    # by line feeds alone: texts may hold the other signs that end a line in Unicode
    *whole, _ = text.split("\n")
    records = []
    for number, line in enumerate(whole, start=1):
        try:
            records.append(kind.model_validate_json(line))
        except ValidationError as error:
            raise _invalid(error, f"{file}:{number}") from None
    return records


def _invalid(error: ValidationError, where: str) -> UsageError:
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"])) or "document"
    return UsageError(
        f"{place}: {first['msg']}",
        where=where,
        allowed=f"a run of trtspec bench, schema {SCHEMA}",
        action="measure again with this version",
    )


def _rewrite(file: Path, records: Iterable[Record]) -> None:
    write_atomic(file, "".join(r.model_dump_json() + "\n" for r in records))


def now() -> str:
    """Give the UTC time, ISO 8601, in seconds."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def run_name(name: str) -> str:
    """Name a run's directory by its second and its subject."""
    return f"{datetime.now(timezone.utc):%Y%m%dT%H%M%SZ}-{name}"

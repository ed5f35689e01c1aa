"""Where a run's records lie: one directory that grows block by block.

    plan.json       what is measured, how, under which conditions; written first
    blocks.jsonl    one line per block, warm-up included
    samples.jsonl   one line per counted request
    failures.jsonl  one line per request that brought no answer
    result.json     what follows; written at the end, whole or not at all
    log.txt         what was said while it ran

A block's samples are written before its line in blocks.jsonl, and both are on disk
before the next block begins: what a killed run leaves is whole up to its last block.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from trtspec.bench.paths import writing
from trtspec.bench.records import Block, Failure, Record, Sample
from trtspec.bench.result import SCHEMA, BenchResult, Plan
from trtspec.bench.summary import Raw, break_evens, summarize
from trtspec.errors import RunError, UsageError
from trtspec.files import write_atomic

PLAN, RESULT, LOG = "plan.json", "result.json", "log.txt"
BLOCKS, SAMPLES, FAILURES = "blocks.jsonl", "samples.jsonl", "failures.jsonl"

RecordT = TypeVar("RecordT", bound=Record)


@dataclass(frozen=True, slots=True)
class BenchRun:
    """A run as it was read back, or as it has just ended.

    :param unsaved: why not all of it could be written; None if it was.
    """

    path: Path
    result: BenchResult
    raw: Raw
    unsaved: RunError | None = None


class RunDirectory:
    """The directory of a run that is being measured.

    :param path: exists and has a plan.
    """

    def __init__(self, path: Path, plan: Plan, raw: Raw) -> None:
        self.path = path
        self.plan = plan
        self._blocks = list(raw.blocks)
        self._samples = list(raw.samples)
        self._failures = list(raw.failures)

    @classmethod
    def create(cls, path: Path, plan: Plan) -> RunDirectory:
        """Make the directory and write the plan.

        :raises UsageError: if a run is there already.
        :raises RunError: if it cannot be written.
        """
        if (path / PLAN).exists():
            raise UsageError(
                f"{path} holds a run already",
                where="--output",
                action="name another directory, or go on with it: --resume",
            )
        with writing(path):
            path.mkdir(parents=True, exist_ok=True)
            write_atomic(path / PLAN, plan.model_dump_json(indent=1) + "\n")
        return cls(path, plan, Raw())

    @classmethod
    def reopen(cls, path: Path) -> RunDirectory:
        """Go on with a run: keep its whole blocks, drop what was half written.

        :raises UsageError: if there is no run, or it cannot be read.
        """
        plan = load_plan(path)
        raw = load_raw(path)
        with writing(path):
            _rewrite(path / BLOCKS, raw.blocks)
            _rewrite(path / SAMPLES, raw.samples)
            _rewrite(path / FAILURES, raw.failures)
        return cls(path, plan, raw)

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
        settings = self.plan.settings
        return all(
            self.failed(load.key)
            or all(
                self.has(load.key, arm.name, block)
                for arm in self.plan.arms
                for block in range(1, settings.repeats + 1)
            )
            for load in settings.loads
        )

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
            file.write(f"{now()} {line}\n")

    def finish(self, *, partial: bool) -> BenchRun:
        """Compute and write the result; if it cannot be written, the run says so.

        :param partial: whether blocks are missing.
        """
        result = result_of(self.plan, self.raw, partial=partial)
        text = result.model_dump_json(by_alias=True, indent=1) + "\n"
        try:
            with writing(self.path / RESULT):
                write_atomic(self.path / RESULT, text)
        except RunError as error:
            return BenchRun(self.path, result, self.raw, error)
        return BenchRun(self.path, result, self.raw)

    def _append(self, name: str, records: list[RecordT]) -> None:
        if not records:
            return
        with writing(self.path / name), (self.path / name).open("a") as file:
            file.writelines(record.model_dump_json() + "\n" for record in records)
            file.flush()
            os.fsync(file.fileno())


def result_of(plan: Plan, raw: Raw, *, partial: bool) -> BenchResult:
    """Compute the result from the raw records."""
    cells = summarize(plan, raw)
    return BenchResult(
        plan=plan,
        finished=now(),
        partial=partial,
        cells=cells,
        break_even=break_evens(plan, cells),
    )


def load_run(path: Path) -> BenchRun:
    """Read a run; of one that was killed, what it has, marked partial.

    :param path: its directory, or the result.json in it.
    :raises UsageError: if there is none, or it cannot be read.
    """
    directory = path.parent if path.name == RESULT else path
    plan = load_plan(directory)
    raw = load_raw(directory)
    file = directory / RESULT
    if not file.exists():
        return BenchRun(directory, result_of(plan, raw, partial=True), raw)
    return BenchRun(directory, _load(file, BenchResult), raw)


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
    """Read the raw records of all whole blocks.

    :raises UsageError: naming the line that is none of ours.
    """
    blocks = _lines(directory / BLOCKS, Block)
    whole = {(b.load, b.arm, b.block) for b in blocks}
    samples = [
        s
        for s in _lines(directory / SAMPLES, Sample)
        if (s.load, s.arm, s.block) in whole
    ]
    return Raw(blocks, samples, _lines(directory / FAILURES, Failure))


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
    whole, _, _ = text.rpartition("\n")
    records = []
    for number, line in enumerate(whole.splitlines(), start=1):
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

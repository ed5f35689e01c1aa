"""Which tool wrote a result file, and what it says."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from typing import Any

from trtspec.bench.interchange.aiperf_facts import RECORDS_FILE, SUMMARY_FILE
from trtspec.bench.interchange.aiperf_read import (
    from_records,
    from_summary,
    is_record,
    is_summary,
)
from trtspec.bench.interchange.foreign import ForeignResult
from trtspec.bench.interchange.trtllm_bench_read import from_report, is_report
from trtspec.errors import UsageError


def read_foreign(path: Path) -> ForeignResult | None:
    """Read a result of AIPerf or ``trtllm-bench --report_json``.

    :param path: the file; or a folder of AIPerf, whose summary is preferred to its
        records.
    :return: None if it is neither.
    :raises UsageError: if it cannot be read, or is one of them and damaged.
    """
    file = _file(path)
    if file is None:
        return None
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        return None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UsageError(f"cannot be read: {reason}", where=str(file)) from error
    return _document(text, file) or _records(text, file)


def _loads(text: str) -> Any:
    """Read JSON; what no finite number holds, such as NaN and 1e999, is no value."""
    return json.loads(text, parse_constant=lambda name: None, parse_float=_finite)


def _finite(text: str) -> float | None:
    number = float(text)
    return number if isfinite(number) else None


def _file(path: Path) -> Path | None:
    if not path.is_dir():
        return path
    return next(
        (f for n in (SUMMARY_FILE, RECORDS_FILE) if (f := path / n).exists()), None
    )


def _document(text: str, file: Path) -> ForeignResult | None:
    """Read a file that is one JSON object."""
    try:
        found = _loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    if is_report(found):
        return from_report(found, file.name)
    if is_summary(found):
        return from_summary(found, file.name)
    return None


def _records(text: str, file: Path) -> ForeignResult | None:
    """Read a file of one record per line; the first line says whether it is one."""
    lines = [line for line in text.splitlines() if line.strip()]
    records = []
    for number, line in enumerate(lines, start=1):
        try:
            record = _loads(line)
        except (ValueError, RecursionError):
            record = None
        if not is_record(record):
            if number == 1:
                return None
            if number == len(lines):
                break  # the last line of a run that was cut off
            raise UsageError(
                "the line is no record of AIPerf, as those before it are",
                where=f"{file}:{number}",
                action="export the results again",
            )
        records.append(record)
    return from_records(records, file.name) if records else None

"""Where the parts of a tuning lie.

result.json            what was found and chosen; written last, whole or not at all
traces/CANDIDATE.jsonl what each drafter would have had accepted
costs/CANDIDATE.json   how long its steps take
confirmation/          the bench, a run as ``trtspec bench`` leaves it
"""

from __future__ import annotations

import re
from pathlib import Path

from trtspec.bench.paths import writing
from trtspec.errors import UsageError

RESULT = "result.json"
CONFIRMATION = "confirmation"
TRACES, COSTS = "traces", "costs"


def make_directories(tuning: Path) -> None:
    """Make the directory of a tuning.

    :raises UsageError: if a tuning is there already.
    """
    if (tuning / RESULT).exists():
        raise UsageError(
            f"{tuning} holds a tuning already",
            where="--output",
            action="name another directory",
        )
    with writing(tuning):
        for name in (TRACES, COSTS):
            (tuning / name).mkdir(parents=True, exist_ok=True)


def traces_file(tuning: Path, candidate: str) -> Path:
    """Give the file of a candidate's trace."""
    return tuning / TRACES / f"{_file_name(candidate)}.jsonl"


def costs_file(tuning: Path, candidate: str) -> Path:
    """Give the file of a candidate's step costs."""
    return tuning / COSTS / f"{_file_name(candidate)}.json"


def _file_name(candidate: str) -> str:
    return re.sub(r"[^\w.-]+", "-", candidate)

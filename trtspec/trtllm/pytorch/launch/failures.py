"""Why a server failed, from the last lines of its log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from packaging.version import Version

from trtspec.errors import RunError
from trtspec.trtllm.facts.read import document, entries, established
from trtspec.trtllm.facts.records import KnownFailure

_SHOWN_LINES = 12


@cache
def serving_failures() -> tuple[KnownFailure, ...]:
    """Messages of a server that fails, the more telling first."""
    return entries(document("serving_failures.json")["failures"], KnownFailure)


def known_failure(lines: Sequence[str], version: Version) -> KnownFailure | None:
    """Find the failure that a log's lines tell of; the most telling one of all lines.

    One cause makes every rank and wrapper complain, so the last line says least.
    """
    known = established(serving_failures(), version)
    return next(
        (f for f in known if any(re.search(f.pattern, line) for line in lines)), None
    )


def server_failure(
    what: str, tail: Sequence[str], log: Path, version: Version
) -> RunError:
    """Give the error for a server that failed, with its last lines and their meaning.

    :param what: what happened, such as "trtllm-serve ended with exit status 1".
    """
    known = known_failure(tail, version)
    shown = [f"  | {line}" for line in tail[-_SHOWN_LINES:]]
    meaning = [f"  meaning: {known.meaning} ({known.source})"] if known else []
    action = f"see the log {log}"
    if known:
        action = f"{known.action.removesuffix('.')}; {action}"
    return RunError("\n".join([what, *shown, *meaning]), action=action)

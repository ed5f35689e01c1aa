"""What a failed program's last lines mean, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from packaging.version import Version

from trtspec.build.command import CommandError
from trtspec.trtllm import facts
from trtspec.trtllm.facts.records import Phase
from trtspec.trtllm.versions import contains

_SHOWN_LINES = 12
_LAST_WORDS = "engine_build_failed"


def known_failure(
    lines: Sequence[str], phase: Phase, version: Version
) -> facts.KnownFailure | None:
    """Find the failure that the lines of a log tell of; the last line counts most.

    The builder ends every failure with the same words, so those count only where
    nothing else is known.
    """
    known = [
        failure
        for failure in facts.failures()
        if phase in failure.stages and contains(failure.versions, version)
    ]
    found = [
        failure
        for line in reversed(lines)
        for failure in known
        if re.search(failure.pattern, line)
    ]
    return next((f for f in found if f.name != _LAST_WORDS), next(iter(found), None))


def explained(error: CommandError, phase: Phase, version: Version) -> CommandError:
    """Give the error again with the last lines and, if it is known, its meaning."""
    first = error.problems[0]
    known = known_failure([*error.tail, first.what], phase, version)
    shown = [f"  | {line}" for line in error.tail[-_SHOWN_LINES:]]
    meaning = [f"  meaning: {known.meaning} ({known.source})"] if known else []
    action = (
        f"{known.action.removesuffix('.')}; {first.action}" if known else first.action
    )
    return CommandError(
        "\n".join([first.what, *shown, *meaning]), action=action, tail=error.tail
    )

"""Which requests brought no answer; their loads have no numbers."""

from __future__ import annotations

from collections import defaultdict

from trtspec.bench.records import Failure
from trtspec.report import numbers
from trtspec.report.document import Note, Section, Table
from trtspec.report.secrets import without_secrets
from trtspec.report.view import RunView

_NAMED = 5
"""Prompts that are named per kind of failure."""


def failures_section(view: RunView) -> Section | None:
    """List them by load, arm and what happened; None if there were none."""
    failed = [cell for cell in view.cells if cell.failures]
    if not failed:
        return None
    words = {cell.load.key: cell.load.words for cell in failed}
    groups: dict[tuple[str, str, str], list[Failure]] = defaultdict(list)
    for cell in failed:
        for failure in cell.failures:
            what = without_secrets(" ".join(failure.what.split()))
            groups[words[failure.load], failure.arm, what].append(failure)
    rows = [
        (load, arm, numbers.count(len(found)), _prompts(found), what)
        for (load, arm, what), found in groups.items()
    ]
    text = (
        "A load under which a request fails is not averaged over: it has no numbers, "
        "and no claim is made for it."
    )
    table = Table(("load", "arm", "count", "prompts", "what"), tuple(rows), 2, last=2)
    return Section("Failures", (Note("warning", text), table))


def _prompts(failures: list[Failure]) -> str:
    names = list(dict.fromkeys(f.prompt_id for f in failures if f.prompt_id))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more or "the whole engine"

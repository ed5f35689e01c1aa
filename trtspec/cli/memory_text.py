"""How much memory a recipe takes, as ``trtspec plan`` shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trtspec.check.finding import Finding

_PLAN = "memory-plan"


def memory_document(findings: Sequence[Finding]) -> dict[str, object]:
    """Give the memory plan as a part of a document; empty where no GPU is known."""
    found = next((f.values for f in findings if f.rule == _PLAN), None)
    return {} if found is None else {"memory": dict(found)}


def memory_lines(findings: Sequence[Finding]) -> Iterator[str]:
    """Write the memory plan, and what is to be said about it."""
    for finding in findings:
        if finding.rule == _PLAN:
            first, *table = finding.what.splitlines()
            yield f"memory       {first.removeprefix('memory of ')}"
            yield from table
            yield from (f"  {text}" for text in finding.why.split("; ") if text)

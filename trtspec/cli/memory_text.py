"""What check found, as ``trtspec plan`` shows it: how much memory a recipe takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from trtspec.check.finding import Finding

_PLAN = "memory-plan"


def memory_document(findings: Sequence[Finding]) -> dict[str, object]:
    """Give the memory plan as a part of a document; empty where no GPU is known."""
    found = next((f.values for f in findings if f.rule == _PLAN), None)
    return {} if found is None else {"memory": dict(found)}


def told_document(findings: Sequence[Finding]) -> dict[str, object]:
    """Give what there is to say beside a plan: warnings, and what is ignored."""
    told = [f for f in findings if f.severity != "note" or f.ignored]
    return {"findings": [asdict(finding) for finding in told]}


def memory_lines(findings: Sequence[Finding]) -> Iterator[str]:
    """Write the memory plan, and what is to be said about it."""
    for finding in findings:
        if finding.rule == _PLAN:
            yield "memory       the fullest GPU:"
            yield from finding.what.splitlines()[1:]
            yield from (f"  {text}" for text in _assumptions(finding))


def _assumptions(finding: Finding) -> Sequence[str]:
    found = finding.values.get("assumptions")
    return found if isinstance(found, list) else ()

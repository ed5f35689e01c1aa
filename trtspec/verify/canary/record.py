"""What a canary saw: a few checks, each with its own verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from trtspec.bench.records import Record

Verdict = Literal["pass", "fail", "cannot tell"]
CheckName = Literal[
    "text", "acceptance", "repeat", "recovery", "streaming", "stop strings", "usage"
]


class Check(Record):
    """One thing that was looked at."""

    name: CheckName = Field(description="What was looked at.")
    verdict: Verdict = Field(description="pass, fail or cannot tell.")
    what: str = Field(description="What was seen, in words.")


class Drafting(Record):
    """Draft tokens of one round of the same prompts."""

    requests: int = Field(ge=0, description="Requests of the round.")
    at_once: int = Field(ge=1, description="Most of them at the same time.")
    drafted: int | None = Field(description="Draft tokens; null if not told.")
    accepted: int | None = Field(description="Of them accepted; null if not told.")
    rate: float | None = Field(description="Accepted / drafted; null if none drafted.")


class CanaryResult(Record):
    """A quick look at a running engine."""

    verdict: Verdict = Field(
        description="fail if any check fails; cannot tell if any cannot, or none ran."
    )
    reasons: tuple[str, ...] = Field(
        description="What the checks that do not pass saw."
    )
    checks: tuple[Check, ...] = Field(description="All checks, in their order.")
    first: Drafting | None = Field(description="The prompts, one after the other.")
    repeated: Drafting | None = Field(description="The same prompts once more.")
    recovered: Drafting | None = Field(description="The same after a burst.")
    seconds: float = Field(ge=0, description="How long it took.")


def passed(name: CheckName, what: str) -> Check:
    """Say that nothing is wrong."""
    return Check(name=name, verdict="pass", what=what)


def failed(name: CheckName, what: str) -> Check:
    """Say what is wrong."""
    return Check(name=name, verdict="fail", what=what)


def untold(name: CheckName, what: str) -> Check:
    """Say why nothing can be said."""
    return Check(name=name, verdict="cannot tell", what=what)


def folded(checks: Sequence[Check]) -> tuple[Verdict, tuple[str, ...]]:
    """Make one verdict of several, with the reasons why it is not pass."""
    words = {check.verdict for check in checks}
    reasons = tuple(f"{c.name}: {c.what}" for c in checks if c.verdict != "pass")
    if "fail" in words:
        return "fail", reasons
    if "cannot tell" in words or not words:
        return "cannot tell", reasons or ("nothing was looked at",)
    return "pass", ()

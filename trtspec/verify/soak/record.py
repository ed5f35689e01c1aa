"""What a soak saw: acceptance per rung, up and down, and what became of requests."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from trtspec.bench.records import Record

Verdict = Literal["pass", "fail", "cannot tell"]
CheckName = Literal["ramp", "riders", "recovery", "requests", "slots", "memory"]


class Check(Record):
    """One thing that was looked at."""

    name: CheckName = Field(description="What was looked at.")
    verdict: Verdict = Field(description="pass, fail or cannot tell.")
    what: str = Field(description="What was seen, in words.")


class Pace(Record):
    """Tokens per step of some requests, without the first and last step of each."""

    steps: int = Field(ge=0, description="Chunks that were counted, one per step.")
    mean: float = Field(ge=0, description="Tokens per step, bonus token included.")
    deviation: float = Field(ge=0, description="Standard deviation of a step's tokens.")


class Level(Record):
    """A number of requests kept in flight, on the way up and on the way down."""

    in_flight: int = Field(ge=1, description="Requests kept in flight.")
    draft_length: int | None = Field(
        ge=0, description="What the schedule says there; null: a server's, not known."
    )
    up: Pace = Field(description="On the way up.")
    down: Pace | None = Field(description="On the way down; null at the top.")


class Requests(Record):
    """What became of the requests of the random mix."""

    submitted: int = Field(ge=0, description="Requests that were sent.")
    finished: int = Field(ge=0, description="That ended by themselves.")
    cancelled: int = Field(ge=0, description="That were cancelled, and ended so.")
    long: int = Field(ge=0, description="With a prompt as long as is allowed.")
    lost: int = Field(ge=0, description="That never ended.")
    refused: int = Field(
        default=0, ge=0, description="That a server refused: too many, or too long."
    )


class SoakResult(Record):
    """An engine under a load that goes up, down and anyhow."""

    verdict: Verdict = Field(
        description="fail if any check fails; cannot tell if any cannot; else pass."
    )
    reasons: tuple[str, ...] = Field(
        description="What the checks that do not pass saw."
    )
    checks: tuple[Check, ...] = Field(description="All checks, in their order.")
    levels: tuple[Level, ...] = Field(description="Every rung of the schedule.")
    requests: Requests = Field(description="Of the random mix.")
    memory_mib: tuple[float, ...] = Field(
        description="Of the process and its children, each time nothing was running; "
        "empty: not looked at."
    )
    over: Literal["in process", "HTTP"] = Field(
        default="in process", description="How the engine was loaded."
    )
    gauges: tuple[str, ...] = Field(
        default=(), description="Gauges of the server that were looked at."
    )
    not_looked_at: tuple[str, ...] = Field(
        default=(), description="What could not be looked at, and why."
    )
    seed: int = Field(description="Of the random mix.")
    seconds: float = Field(ge=0, description="How long it took.")


def folded(checks: list[Check]) -> tuple[Verdict, tuple[str, ...]]:
    """Make one verdict of several, with the reasons why it is not pass."""
    words = {check.verdict for check in checks}
    reasons = tuple(f"{c.name}: {c.what}" for c in checks if c.verdict != "pass")
    if "fail" in words:
        return "fail", reasons
    return ("cannot tell" if "cannot tell" in words else "pass"), reasons

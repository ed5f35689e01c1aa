"""What the lossless gate looked at, what each value means, and its verdict."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from trtspec.bench.records import Record

Effect = Literal["lossless", "lossy", "cannot tell"]
"""What a value does to the output: nothing, it changes it, or no source settles it."""
Verdict = Literal["pass", "fail", "cannot tell"]
Mode = Literal["greedy", "sampled"]

UNSET = "unset"
"""How a value is shown that nobody gave."""


class Inspected(Record):
    """One value that the gate looked at."""

    name: str = Field(description="The key, environment variable or request field.")
    where: str = Field(description="Where it stands: a file, a section, environment.")
    value: str = Field(description="As JSON writes it; unset if nobody gave it.")
    effect: Effect = Field(description="What it does to the output.")
    meaning: str = Field(description="The same in words.")
    source: str = Field(default="", description="Where that is known from.")


class GateResult(Record):
    """What configuration and environment say of the output, asking no engine."""

    verdict: Verdict = Field(description="pass: lossless; fail: lossy; cannot tell.")
    reasons: tuple[str, ...] = Field(
        description="Why it is not pass, one sentence per value; empty for pass."
    )
    engine: str = Field(description="Whose configuration it is, such as vLLM.")
    version: str | None = Field(description="Of that engine; null if not known.")
    mode: Mode = Field(description="The kind of requests that the verdict is about.")
    inspected: tuple[Inspected, ...] = Field(description="Every value looked at.")
    caveats: tuple[str, ...] = Field(
        default=(),
        description="What to know beside the verdict.",
    )


def shown(value: object) -> str:
    """Give a value as JSON writes it; ``unset`` for None."""
    if value is None:
        return UNSET
    return value if isinstance(value, str) else json.dumps(value, default=str)


def lossless(
    name: str, where: str, value: object, meaning: str, source: str = ""
) -> Inspected:
    """Say that a value leaves the output alone."""
    return _inspected((name, where, value), "lossless", meaning, source)


def lossy(
    name: str, where: str, value: object, meaning: str, source: str = ""
) -> Inspected:
    """Say that a value changes the output."""
    return _inspected((name, where, value), "lossy", meaning, source)


def untold(
    name: str, where: str, value: object, meaning: str, source: str = ""
) -> Inspected:
    """Say that no source settles what a value does."""
    return _inspected((name, where, value), "cannot tell", meaning, source)


def _inspected(
    what: tuple[str, str, object], effect: Effect, meaning: str, source: str
) -> Inspected:
    name, where, value = what
    return Inspected(
        name=name,
        where=where,
        value=shown(value),
        effect=effect,
        meaning=meaning,
        source=source,
    )


def judge(
    engine: str,
    version: object,
    mode: Mode,
    inspected: Iterable[Inspected],
    caveats: Iterable[str] = (),
) -> GateResult:
    """Fold what was looked at: lossy wins over cannot tell, that over lossless.

    Nothing looked at is no reason to pass.
    """
    found = tuple(inspected)
    effects = {each.effect for each in found}
    verdict: Verdict = "pass" if effects == {"lossless"} else "cannot tell"
    if "lossy" in effects:
        verdict = "fail"
    reasons = tuple(_sentence(each) for each in found if each.effect != "lossless")
    return GateResult(
        verdict=verdict,
        reasons=reasons if found else ("nothing was there to look at",),
        engine=engine,
        version=None if version is None else str(version),
        mode=mode,
        inspected=found,
        caveats=tuple(dict.fromkeys(caveats)),
    )


def _sentence(each: Inspected) -> str:
    kind = "lossy" if each.effect == "lossy" else "not settled"
    value = "" if each.value == UNSET else f" {each.value}"
    return f"{kind}: {each.name}{value} ({each.where}): {each.meaning}"

"""How a verification reads: the verdict first, then part by part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trtspec.bench.arms import ArmInfo
from trtspec.verify.greedy.records import Verdict
from trtspec.verify.verdict import PARTS, Part, Verification


class Line(NamedTuple):
    """One line, and the verdict that it bears; None for a plain one."""

    text: str
    verdict: Verdict | None = None


def lines_of(done: Verification) -> Iterator[Line]:
    """Give all lines; empty ones stand between the parts."""
    yield Line(f"{done.verdict}: {done.sentence}", done.verdict)
    arms = "; ".join(map(arm_line, done.arms))
    yield Line(f"{done.name}: {arms}; {done.seconds:.0f} s")
    if done.prompts:
        yield Line(f"prompts: {done.prompts.file}, {done.prompts.count}")
    for part in done.parts:
        yield Line("")
        yield from _part(part)
    if done.skipped:
        yield Line("")
    for one in done.skipped:
        yield Line(f"not run: {PARTS[one.name]}: {one.why}")


def _part(part: Part) -> Iterator[Line]:
    title = f"{PARTS[part.name]}: {part.verdict} ({part.seconds:.1f} s)"
    yield Line(title, part.verdict)
    for text in part.summary:
        yield Line(f"  {text}")
    for reason in part.reasons:
        yield Line(f"  because: {reason}", part.verdict)


def arm_line(info: ArmInfo) -> str:
    """Say what an arm is: its artifact or server, and its method."""
    what = "" if info.endpoint is None else f" {info.endpoint.url}"
    if info.artifact is not None:
        what = f" {info.artifact.name}-{info.artifact.fingerprint[:12]}"
    return f"{info.name}{what}, method {info.speculation['method']}"

"""Whether a head turns its positions as its target does."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.models.inspection_rotary import rotary_fit


def rotary_encoding(subject: Subject) -> Iterator[Finding]:
    """Tell of another base or scaling, which may be as the head was trained."""
    target, drafter = subject.target, subject.drafter
    if target is None or drafter is None:
        return
    for fit in rotary_fit(drafter, target):
        if fit.verdict == "note":
            yield Finding(
                "rotary-encoding",
                "note",
                subject.where_model("draft"),
                f"the {drafter.kind} drafter's rotary encoding: {fit.text}",
                "a head turns its positions by its own config.json",
                values={"drafter": fit.drafter, "target": fit.target},
            )

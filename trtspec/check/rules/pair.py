"""Whether a draft model is worth its cost beside the target."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject


def draft_is_smaller(subject: Subject) -> Iterator[Finding]:
    """Point at draft models that cost as much as the target."""
    target, draft = subject.target, subject.draft
    if target is None or draft is None:
        return
    if draft.parameters >= target.parameters:
        yield Finding(
            "draft-size",
            "warning",
            subject.where_model("draft"),
            f"the draft model has {_millions(draft.parameters)} parameters, the target "
            f"model {_millions(target.parameters)}",
            "a draft that costs as much as the target cannot make it faster",
            "choose a draft model of a tenth of the target's size or less",
            values={
                "target_parameters": target.parameters,
                "draft_parameters": draft.parameters,
            },
        )


def _millions(count: int) -> str:
    return f"{count / 1e6:,.1f} million"

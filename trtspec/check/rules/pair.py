"""Whether a draft model is worth its cost beside the target."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject

_LARGE = 0.1
"""Share of the target's parameters above which a draft model is a large one."""


def draft_is_smaller(subject: Subject) -> Iterator[Finding]:
    """Point at draft models that cost as much as the target, or near it."""
    target, draft = subject.target, subject.draft
    if target is None or draft is None:
        return
    useless = draft.parameters >= target.parameters
    if useless or draft.parameters > _LARGE * target.parameters:
        yield Finding(
            "draft-size",
            "warning" if useless else "note",
            subject.where_model("draft"),
            f"the draft model has {_millions(draft.parameters)} parameters, the target "
            f"model {_millions(target.parameters)}",
            "a draft that costs as much as the target cannot make it faster"
            if useless
            else "a forward of it costs about "
            f"{draft.parameters / target.parameters:.0%} of the target's: only high "
            "acceptance makes up for that",
            "choose a draft model of a tenth of the target's size or less",
            values={
                "target_parameters": target.parameters,
                "draft_parameters": draft.parameters,
            },
        )


def _millions(count: int) -> str:
    return f"{count / 1e6:,.1f} million"

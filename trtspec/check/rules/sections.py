"""Whether the recipe says what only another backend understands."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject

_OWNERS = {"engine": "tensorrt", "pytorch": "pytorch"}
"""Section → the one backend that has it."""


def sections_of_others(subject: Subject) -> Iterator[Finding]:
    """Tell of a section that has no effect on the recipe's backend."""
    for section, owner in _OWNERS.items():
        given = getattr(subject.recipe, section) is not None
        if given and subject.recipe.backend != owner:
            yield Finding(
                "section",
                "note",
                subject.where(section),
                f"section {section} has no effect on backend {subject.recipe.backend}",
                f"it is backend {owner}'s",
            )

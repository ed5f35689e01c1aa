"""What is said of one figure of a drafter beside its target's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["fits", "note", "differs", "refused"]
"""``fits``; ``note``, which may be as it should be; ``differs``, which costs acceptance
or positions; ``refused``, with which nothing runs, or no draft is accepted."""


@dataclass(frozen=True, slots=True)
class Fit:
    """One figure of a drafter, held against its target's."""

    key: str
    verdict: Verdict
    text: str
    drafter: object
    target: object

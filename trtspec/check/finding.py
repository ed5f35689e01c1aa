"""What a check found: how bad it is, where, what, why it matters, what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["blocking", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("blocking", "warning", "note")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a rule has to say about a recipe.

    :param rule: name of the rule, stable across versions.
    :param severity: a blocking one must be resolved before anything is built.
    :param where: file:line of the recipe, or the key if there is no file.
    :param what: the statement, with the value in it.
    :param why: what would happen, or what was expected; may be empty.
    :param action: what to do; may be empty for a note.
    """

    rule: str
    severity: Severity
    where: str
    what: str
    why: str = ""
    action: str = ""


def is_blocked(findings: Iterable[Finding]) -> bool:
    """Whether any finding is blocking."""
    return any(finding.severity == "blocking" for finding in findings)

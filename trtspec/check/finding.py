"""What a check found: how bad it is, where, what, why it matters, what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal

Severity = Literal["blocking", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("blocking", "warning", "note")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a rule has to say about a recipe.

    :param rule: name of the rule, stable across versions; ``check.catalogue`` has it.
    :param severity: a blocking one must be resolved before anything is built.
    :param where: file:line of the recipe, or the key if there is no file.
    :param what: the statement, with the value in it.
    :param why: what would happen, or what was expected; may be empty.
    :param action: what to do; may be empty for a note.
    :param snippet: text to copy as it is, YAML lines for the recipe or a command.
    :param source: URL, or path in this repository, of the fact behind it.
    :param values: the values involved, by name, as JSON has them.
    :param ignored: whether the user asked to go on in spite of it; see ``ignoring``.
    """

    rule: str
    severity: Severity
    where: str
    what: str
    why: str = ""
    action: str = ""
    _: KW_ONLY
    snippet: str = ""
    source: str = ""
    values: Mapping[str, object] = field(default_factory=dict, hash=False)
    ignored: bool = False

    @property
    def blocks(self) -> bool:
        """Whether nothing may be built because of it."""
        return self.severity == "blocking" and not self.ignored


def is_blocked(findings: Iterable[Finding]) -> bool:
    """Whether any finding is blocking and not ignored."""
    return any(finding.blocks for finding in findings)

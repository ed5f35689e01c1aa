"""What is there to know about each rule: what it finds, why it matters, what to do.

The entries are data, one file of YAML per theme beside this module; pages in docs/rules
are written from them (scripts/write_rules_pages.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from trtspec.check.finding import SEVERITIES, Severity
from trtspec.errors import UsageError

_FOLDER = Path(__file__).with_name("catalogue")
_NEAR = 0.7
"""How alike a name must be to be suggested."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is to be known about one rule.

    :param theme: name of the file that it stands in.
    :param severity: those that its findings can have, worst first.
    :param says: what it finds.
    :param why: what would happen.
    :param do: what to do about it.
    :param ignorable: whether even a blocking finding may be ignored; None for all but
        the blocking ones.
    :param source: URL or repository path of the fact behind it; may be empty.
    """

    id: str
    theme: str
    severity: tuple[Severity, ...]
    says: str
    why: str
    do: str
    ignorable: bool | None = None
    source: str = ""

    def may_be_ignored(self, severity: Severity) -> bool:
        """Whether the user may go on in spite of a finding of this severity."""
        return severity != "blocking" if self.ignorable is None else self.ignorable

    @property
    def ignorable_severities(self) -> tuple[Severity, ...]:
        """Severities of the findings that may be ignored."""
        return tuple(s for s in self.severity if self.may_be_ignored(s))


@dataclass(frozen=True, slots=True)
class Theme:
    """Rules about the same thing.

    :param title: a heading.
    :param about: which question the rules answer.
    """

    name: str
    title: str
    about: str
    entries: tuple[Entry, ...]


@cache
def themes() -> tuple[Theme, ...]:
    """Give all themes, in the order of their names."""
    return tuple(_theme(path) for path in sorted(_FOLDER.glob("*.yaml")))


@cache
def entries() -> Mapping[str, Entry]:
    """Give all entries by rule, theme by theme."""
    return {entry.id: entry for theme in themes() for entry in theme.entries}


def entry(rule: str) -> Entry:
    """Give the entry of a rule.

    :raises UsageError: if there is no such rule, with names that are near.
    """
    if found := entries().get(rule):
        return found
    raise unknown_rule(rule)


def unknown_rule(rule: str, where: str = "") -> UsageError:
    """Say that there is no such rule, and which names are near.

    :param where: the flag that names it.
    """
    wanted = rule.lower().replace("_", "-")
    near = get_close_matches(wanted, entries(), n=3, cutoff=_NEAR)
    return UsageError(
        f"there is no rule {rule!r}" + (f"; near: {', '.join(near)}" if near else ""),
        where=where,
        action=f"trtspec check --explain {near[0] if near else 'all'}",
    )


def _theme(path: Path) -> Theme:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with path.open(encoding="utf-8") as stream:
        content = yaml.load(stream, loader)  # noqa: S506  a safe loader
    made = tuple(_entry(path.stem, fields) for fields in content["rules"])
    return Theme(path.stem, content["title"], content["about"], made)


def _entry(theme: str, fields: Mapping[str, Any]) -> Entry:
    severity = tuple(s for s in SEVERITIES if s in fields["severity"])
    return Entry(**{**fields, "theme": theme, "severity": severity})

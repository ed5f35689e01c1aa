"""How a finding, and what is to be known about its rule, look on a terminal."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

import click

from trtspec.cli.paragraph import paragraph

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from trtspec.check.catalogue import Entry, Theme
    from trtspec.check.finding import Finding

_COLOURS = {"blocking": "red", "warning": "yellow", "note": "cyan"}
_LABELS = {
    "where": "where",
    "what": "what",
    "why": "why",
    "action": "do",
    "snippet": "",
    "source": "see",
}
_EXPLAINED = {"says": "finds", "why": "why", "do": "do", "source": "see"}
_ITEM = re.compile(r"( +- )(\S+(?: \S+)*)")
"""A line that has no columns, which would stand two spaces apart."""
_INDENT = "  "
_SNIPPET_INDENT = " " * 4
_LABEL_WIDTH = 6


def finding_lines(finding: Finding, asked: Collection[str] = ()) -> Iterator[str]:
    """Lay one finding out: severity and rule, then one labelled paragraph per fact.

    :param asked: rules whose findings the user wants to ignore.
    """
    severity = click.style(finding.severity, fg=_COLOURS[finding.severity], bold=True)
    yield f"{severity}: {finding.rule}{_fate(finding, asked)}"
    for field, label in _LABELS.items():
        if not (text := getattr(finding, field)):
            continue
        if field == "snippet":  # by itself, so that no label is copied with it
            yield from textwrap.indent(text, _SNIPPET_INDENT).splitlines()
        else:
            yield from _paragraph(text, label)


def counted(findings: Sequence[Finding]) -> str:
    """Say how many findings of each severity there are: ``1 blocking, 2 notes``."""
    counts = dict.fromkeys(_COLOURS, 0)
    ignored = 0
    for finding in findings:
        ignored += finding.ignored
        counts[finding.severity] += not finding.ignored
    parts = [
        f"{count} {name}{'s' if count > 1 and name != 'blocking' else ''}"
        for name, count in counts.items()
        if count
    ]
    if ignored:
        parts.append(f"{ignored} ignored")
    return ", ".join(parts) or "no findings"


def entry_lines(entry: Entry) -> Iterator[str]:
    """Lay out all that is to be known about one rule."""
    yield f"{click.style(entry.id, bold=True)} ({', '.join(entry.severity)})"
    for field, label in _EXPLAINED.items():
        if text := getattr(entry, field):
            yield from _paragraph(text, label)
    yield from _paragraph(how_ignored(entry), "skip")
    yield from _paragraph(f"docs/rules/{entry.theme}.md", "page")


def theme_lines(theme: Theme) -> Iterator[str]:
    """List the rules of a theme, each with what it finds."""
    yield click.style(theme.title, bold=True)
    for entry in theme.entries:
        yield f"{_INDENT}{entry.id}"
        yield from _paragraph(entry.says, "")


def how_ignored(entry: Entry) -> str:
    """Say which findings of a rule may be ignored, and how."""
    may = entry.ignorable_severities
    if not may:
        return "its findings cannot be ignored"
    which = "" if may == entry.severity else f", for {' and '.join(may)} only"
    return f"--ignore {entry.id}{which}"


def _fate(finding: Finding, asked: Collection[str]) -> str:
    if finding.ignored:
        return " (ignored)"
    return " (not ignored: it blocks)" if finding.rule in asked else ""


def _paragraph(text: str, label: str) -> Iterator[str]:
    """Wrap every line of a text by itself; what is indented is kept to be copied.

    Items of a list are wrapped, too, but not the rows of a table.
    """
    first = f"{_INDENT}{label:<{_LABEL_WIDTH}}"
    for index, line in enumerate(text.splitlines()):
        if index and line.startswith(" "):
            item = _ITEM.fullmatch(line)
            yield from paragraph(item[2], item[1]) if item else [line]
            continue
        yield from paragraph(line, " " * len(first) if index else first) or [""]

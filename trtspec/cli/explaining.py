"""``trtspec check --explain``: what there is to know about rules; no recipe needed."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from trtspec.check.catalogue import entries, entry, themes
from trtspec.cli.common import print_json
from trtspec.cli.finding_text import entry_lines, theme_lines
from trtspec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtspec.check.catalogue import Entry, Theme

_ALL = "all"


def explain(name: str, recipe: str | None, *, as_json: bool) -> None:
    """Show a rule, the rules of a theme, or all.

    :param name: of a rule or a theme, or ``all``; a rule goes first.
    :param recipe: must not be given: it would not be looked at.
    :raises UsageError: if there is neither such a rule nor such a theme.
    """
    if recipe is not None:
        raise UsageError(
            f"--explain tells of a rule, and looks at no recipe such as {recipe}",
            where="--explain",
            action=f"trtspec check --explain {name}",
        )
    listed = () if name in entries() else _themes(name)
    if as_json:
        rules = [one for theme in listed for one in theme.entries] or [entry(name)]
        print_json({"rules": [_document(rule) for rule in rules]})
    elif listed:
        click.echo("\n\n".join("\n".join(theme_lines(theme)) for theme in listed))
    else:
        click.echo("\n".join(entry_lines(entry(name))))


def _themes(name: str) -> Sequence[Theme]:
    """Give the themes of this name, or all; none if it names none."""
    return [theme for theme in themes() if name in (_ALL, theme.name)]


def _document(rule: Entry) -> dict[str, object]:
    """Describe a rule as JSON; ``ignorable`` lists the severities that may be."""
    return {**asdict(rule), "ignorable": rule.ignorable_severities}

"""``trtspec check --explain``: what there is to know about rules; no recipe needed."""

from __future__ import annotations

from dataclasses import asdict
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from trtspec.check.catalogue import entries, themes
from trtspec.cli.common import print_json
from trtspec.cli.finding_text import entry_lines, theme_lines
from trtspec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtspec.check.catalogue import Entry, Theme

_ALL = "all"
_OPTION = "--explain"
_NEAR = 0.7
"""How alike a name must be to be suggested: short names are soon half alike."""


def explain(name: str, recipe: str | None, *, as_json: bool) -> None:
    """Show a rule, the rules of a theme, or all.

    :param name: of a rule or a theme, or ``all``; a rule goes first.
    :param recipe: must not be given: it would not be looked at.
    :raises UsageError: if there is neither such a rule nor such a theme.
    """
    if recipe is not None:
        raise UsageError(
            f"--explain tells of a rule, and looks at no recipe such as {recipe}",
            where=_OPTION,
            action=f"trtspec check --explain {name}",
        )
    rule = entries().get(name)
    listed = () if rule else _themes(name)
    if rule is None and not listed:
        raise _unknown(name)
    if as_json:
        rules = [rule] if rule else [one for theme in listed for one in theme.entries]
        print_json({"rules": [_document(one) for one in rules]})
    elif rule is not None:
        click.echo("\n".join(entry_lines(rule)))
    else:
        click.echo("\n\n".join("\n".join(theme_lines(theme)) for theme in listed))


def _themes(name: str) -> Sequence[Theme]:
    """Give the themes of this name, or all; none if it names none."""
    return [theme for theme in themes() if name in (_ALL, theme.name)]


def _unknown(name: str) -> UsageError:
    """Say that neither a rule nor a theme has this name, and which are near."""
    names = (*entries(), *(theme.name for theme in themes()))
    near = get_close_matches(name.lower().replace("_", "-"), names, 3, _NEAR)
    told = f"; near: {', '.join(near)}" if near else ""
    return UsageError(
        f"there is no rule or theme {name!r}{told}",
        where=_OPTION,
        action=f"trtspec check {_OPTION} {near[0] if near else _ALL}",
    )


def _document(rule: Entry) -> dict[str, object]:
    """Describe a rule as JSON; ``ignorable`` lists the severities that may be."""
    return {**asdict(rule), "ignorable": rule.ignorable_severities}

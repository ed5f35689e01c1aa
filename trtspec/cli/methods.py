"""``trtspec methods``: which methods exist, where, and where each is exact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from trtspec import __version__
from trtspec.cli.common import json_option, print_json

if TYPE_CHECKING:
    from trtspec.methods.catalogue import Setting, Standing


@click.command("methods")
@click.argument("name", required=False)
@json_option
def command(name: str | None, as_json: bool) -> None:
    """Show every speculation method on every backend, or all about NAME.

    The table says where greedy and sampled output stay the target model's own; the
    reasons are below it. With NAME: parameters, checkpoint, sources, recipe lines.

    \b
    Examples:
      trtspec methods
      trtspec methods eagle3
    """  # noqa: D301  click wants the backspace itself
    from trtspec.methods.catalogue import METHODS

    names = list(METHODS) if name is None else [_known(name)]
    if as_json:
        methods = [_document(method) for method in names]
        print_json({"trtspec": __version__, "methods": methods})
        return
    from trtspec.cli.methods_text import matrix_lines, method_lines

    if name is None:
        click.echo("\n".join(matrix_lines()))
        return
    from trtspec.cli.methods_features import feature_lines

    click.echo("\n".join([*method_lines(name), *feature_lines(name)]))


def _known(name: str) -> str:
    from trtspec.errors import UsageError
    from trtspec.methods.catalogue import METHODS

    if name in METHODS:
        return name
    from difflib import get_close_matches

    near = get_close_matches(name.lower().replace("-", "_"), METHODS, n=1)
    raise UsageError(
        f"there is no method {name!r}",
        where="NAME",
        allowed=", ".join(METHODS),
        action=f"trtspec methods {near[0]}" if near else "trtspec methods",
    )


def _document(name: str) -> dict[str, Any]:
    """Describe one method as JSON values; docs/methods.md explains every key."""
    from dataclasses import asdict

    from trtspec.cli.methods_features import feature_states
    from trtspec.methods.catalogue import METHODS, settings, standings
    from trtspec.methods.parameters import parameters

    kind = METHODS[name]
    made = settings(name)
    return {
        "method": name,
        "summary": kind.summary,
        "needs": kind.needs,
        "drafter_kind": kind.drafter_kind,
        "step": kind.step,
        "reference": any(
            standing.runs and standing.place.backend == "reference"
            for setting in made
            for standing in standings(setting.method)
        ),
        "parameters": [asdict(parameter) for parameter in parameters(kind)],
        "settings": [_setting(setting) for setting in made],
        "combinations": feature_states(name),
    }


def _setting(setting: Setting) -> dict[str, Any]:
    from trtspec.methods.catalogue import standings

    return {
        "label": setting.label,
        "speculation": setting.keys,
        "verified_tokens": setting.method.verified_tokens,
        "output": [_output(standing) for standing in standings(setting.method)],
    }


def _output(standing: Standing) -> dict[str, Any]:
    """Give the place and, where the method runs, what is exact there and why not."""
    from dataclasses import asdict

    place = {**asdict(standing.place), "runs": standing.runs}
    if not standing.runs:
        return place
    return {
        **place,
        "greedy": {"exact": not standing.greedy, "why": standing.greedy},
        "sampled": {"exact": not standing.sampled, "why": standing.sampled},
        "source": standing.source,
    }

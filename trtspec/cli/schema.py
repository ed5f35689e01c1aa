"""``trtspec schema``: what a recipe may say, for editors and other tools."""

from __future__ import annotations

import click

from trtspec.cli.common import print_json


@click.command(short_help="Print the JSON Schema of a recipe.")
@click.option(
    "--json",
    is_flag=True,
    expose_value=False,
    help="One JSON document on stdout, as without it.",
)
def command() -> None:
    """Print the JSON Schema (draft 2020-12) of a recipe.

    \b
    Example, for completion in an editor:
      trtspec schema > recipe.schema.json
      # first line of a recipe:
      # yaml-language-server: $schema=recipe.schema.json
    """  # noqa: D301 - click reads the backspace
    from trtspec.recipe.json_schema import recipe_json_schema

    print_json(recipe_json_schema())

"""``trtspec schema``: what a recipe, or a result, may say; for other programs."""

from __future__ import annotations

import click

from trtspec.cli.common import print_json


@click.command(short_help="Print the JSON Schema of a recipe, or of a result.")
@click.argument(
    "document",
    type=click.Choice(["recipe", "bench", "tune", "verify"]),
    default="recipe",
    required=False,
)
@click.option(
    "--json",
    is_flag=True,
    expose_value=False,
    help="One JSON document on stdout, as without it.",
)
def command(document: str) -> None:
    """Print the JSON Schema (draft 2020-12) of a recipe, or of a result.

    bench, tune: their result.json. verify: its verdict document.

    \b
    Example, for completion in an editor:
      trtspec schema > recipe.schema.json
      # first line of a recipe:
      # yaml-language-server: $schema=recipe.schema.json
    """  # noqa: D301 - click reads the backspace
    if document == "bench":
        from trtspec.bench.result import json_schema

        print_json(json_schema())
        return
    if document == "tune":
        from trtspec.tune.result import json_schema as tuning_schema

        print_json(tuning_schema())
        return
    if document == "verify":
        from trtspec.verify.verdict import json_schema as verdict_schema

        print_json(verdict_schema())
        return
    from trtspec.recipe.json_schema import recipe_json_schema

    print_json(recipe_json_schema())

"""``trtspec build``: make a recipe's artifact, or find it made already."""

from __future__ import annotations

from pathlib import Path

import click

from trtspec.cli.common import (
    backend_for,
    engines_option,
    examples_option,
    ignore_option,
    json_option,
    print_json,
    require_available,
)
from trtspec.cli.paths import InputPath


@click.command()
@click.argument("recipe", type=InputPath())
@engines_option
@examples_option
@ignore_option
@json_option
def command(
    *,
    recipe: str,
    engines: str,
    examples: Path | None,
    ignore: tuple[str, ...],
    as_json: bool,
) -> None:
    """Build the artifact of RECIPE.

    What an earlier build completed is reused, so a build that was killed goes on where
    it was. The last line is the artifact's directory.

    \b
    Example:
      trtspec build recipes/smollm2-135m/ngram.yaml
    """  # noqa: D301  click wants the backspace itself
    from trtspec.build.build import build
    from trtspec.cli.artifact import terminal_progress
    from trtspec.recipe.load import load_recipe

    loaded = load_recipe(recipe)
    backend = backend_for(loaded.recipe, examples=examples)
    require_available(backend, loaded.recipe)
    progress = terminal_progress(err=as_json)
    built = build(loaded, backend, Path(engines), progress, ignored=ignore)
    if not as_json:
        click.echo(built.artifact.path)
        return
    stages = [
        {
            "name": stage.name,
            "key": stage.key,
            "duration_s": stage.duration_s,
            "reused": stage.reused,
        }
        for stage in built.stages
    ]
    print_json(
        {
            "artifact": str(built.artifact.path),
            "fingerprint": built.artifact.fingerprint,
            "ignored": built.artifact.manifest.ignored,
            "stages": stages,
        }
    )

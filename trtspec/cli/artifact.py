"""How a command gets the artifact it was asked for: opened, or built first."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from trtspec.build.artifact import Artifact
    from trtspec.build.progress import Progress

_CLEAR_LINE = "\r\x1b[K"


def open_or_build(
    path: str | Path, engines: str | Path, progress: Progress
) -> Artifact:
    """Open an artifact directory, or build a recipe file's artifact.

    :param path: a directory that ``trtspec build`` made, or a recipe file.
    :param engines: directory of the artifacts, for a recipe.
    :raises TrtspecError: as ``Artifact.open``, ``load_recipe`` and ``build`` do.
    """
    from trtspec.build.artifact import Artifact

    path = Path(path)
    if path.is_dir():
        artifact = Artifact.open(path, progress)
        if ignored := artifact.manifest.ignored:
            progress.line(f"{path}: built with --ignore {' --ignore '.join(ignored)}")
        return artifact
    from trtspec.build.build import build
    from trtspec.cli.common import backend_for, require_available
    from trtspec.recipe.load import load_recipe

    loaded = load_recipe(path)
    backend = backend_for(loaded.recipe)
    require_available(backend, loaded.recipe)
    return build(loaded, backend, Path(engines), progress).artifact


def terminal_progress(*, err: bool, news_only: bool = False) -> Progress:
    """Tell progress on the terminal; the passing status only where someone looks on.

    :param err: write to stderr, which keeps stdout for results.
    :param news_only: leave out what an earlier build had done already.
    """
    from trtspec.build.progress import Progress

    stream = sys.stderr if err else sys.stdout
    if not stream.isatty():
        return Progress(lambda text: click.echo(text, err=err), news_only=news_only)

    def line(text: str) -> None:
        click.echo(f"{_CLEAR_LINE}{text}", err=err)

    def status(text: str) -> None:
        click.echo(f"{_CLEAR_LINE}{text}", err=err, nl=False)

    return Progress(line, status, news_only)

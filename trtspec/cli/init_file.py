"""Where ``trtspec init`` writes: nothing is overwritten, and nothing left behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from trtspec.cli.paths import unwritable, write_output
from trtspec.errors import UsageError

_OPTION = "--out"


@contextmanager
def folder_for(folder: Path) -> Iterator[None]:
    """Make a folder; what is empty in the end was not needed, and goes again.

    :raises UsageError: if it cannot be made.
    """
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error, _OPTION) from error
    try:
        yield
    finally:
        for place in made:
            with suppress(OSError):
                place.rmdir()


def refuse_to_overwrite(path: Path, *, force: bool) -> None:
    """Refuse a file that is there.

    :raises UsageError: unless it is to be overwritten, or if it is no file.
    """
    if path.is_dir():
        raise UsageError(
            f"{path} is a directory",
            where=_OPTION,
            allowed="a file, or - for stdout",
            action=f"name a file: --out {path / 'recipe.yaml'}",
        )
    if path.exists() and not force:
        raise UsageError(
            f"{path} exists",
            where=_OPTION,
            action="give another file with --out, or --force to overwrite it",
        )


def write_recipe(path: Path, text: str, *, quiet: bool) -> None:
    """Write the recipe, and say what to do with it.

    :param quiet: whether stdout is for something else.
    """
    write_output(path, text, option=_OPTION)
    click.echo(f"\nwrote {path}; next: trtspec check {path}", err=quiet)

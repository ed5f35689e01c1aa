"""Where ``trtspec init`` writes: nothing is overwritten, and nothing left behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from trtspec.errors import UsageError
from trtspec.files import write_atomic


@contextmanager
def folder_for(folder: Path) -> Iterator[None]:
    """Make a folder; what is empty in the end was not needed, and goes again."""
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        for place in made:
            with suppress(OSError):
                place.rmdir()


def refuse_to_overwrite(path: Path, *, force: bool) -> None:
    """Refuse a file that is there.

    :raises UsageError: unless it is to be overwritten.
    """
    if path.exists() and not force:
        raise UsageError(
            f"{path} exists",
            where="--out",
            action="give another file with --out, or --force to overwrite it",
        )


def write_recipe(path: Path, text: str, *, quiet: bool) -> None:
    """Write the recipe, and say what to do with it.

    :param quiet: whether stdout is for something else.
    """
    write_atomic(path, text)
    click.echo(f"\nwrote {path}; next: trtspec check {path}", err=quiet)

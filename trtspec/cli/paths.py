"""How a command is told of a file to write, and says that it cannot be written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trtspec.errors import UsageError

_MODE_OF_A_SCRIPT = 0o755


class InputPath(click.Path):
    """The path of what a command is given; an empty one would mean this folder."""

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """Take what was given as a path."""
        if value == "":
            self.fail("an empty path names nothing", param, ctx)
        return super().convert(value, param, ctx)  # type: ignore[arg-type]


class OutputPath(click.Path):
    """The path of a file to write; an empty one is refused, as it names none."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, path_type=Path)

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Path:
        """Take what was given as a path."""
        if value == "":
            self.fail("an empty path names no file", param, ctx)
        return Path(super().convert(value, param, ctx))  # type: ignore[arg-type]


def write_output(
    output: Path, text: str, *, executable: bool = False, option: str = "--output"
) -> None:
    """Write the file that an option names, in one step; its folder is made.

    :param executable: whether it is a script to be run.
    :raises UsageError: if it cannot be written, or is no file to be replaced.
    """
    from trtspec.files import write_atomic

    try:
        if not output.parent.exists():
            output.parent.mkdir(parents=True)
        write_atomic(output, text)
        if executable:
            output.chmod(_MODE_OF_A_SCRIPT)
    except FileExistsError as error:
        action = "name a file, or leave it out"
        raise unwritable(output, error, option, action) from error
    except OSError as error:
        raise unwritable(output, error, option) from error


def unwritable(
    output: Path, error: OSError, option: str, action: str = ""
) -> UsageError:
    """Say that a file cannot be written, and of which option it is."""
    from trtspec.cli.system_errors import remedy

    return UsageError(
        f"{output} cannot be written: {error.strerror}",
        where=option,
        action=action or remedy(error),
    )

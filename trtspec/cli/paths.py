"""How a command is told of a file to write, and says that it cannot be written."""

from __future__ import annotations

from pathlib import Path

import click

from trtspec.errors import UsageError

_MODE_OF_A_SCRIPT = 0o755


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


def write_output(output: Path, text: str, *, executable: bool = False) -> None:
    """Write the file that ``--output`` names, in one step.

    :param executable: whether it is a script to be run.
    :raises UsageError: if it cannot be written, or is no file to be replaced.
    """
    from trtspec.files import write_atomic

    try:
        write_atomic(output, text)
        if executable:
            output.chmod(_MODE_OF_A_SCRIPT)
    except FileExistsError as error:
        raise _unwritable(output, error, "name a file, or leave it out") from error
    except OSError as error:
        raise _unwritable(output, error) from error


def _unwritable(output: Path, error: OSError, action: str = "") -> UsageError:
    from trtspec.cli.system_errors import remedy

    return UsageError(
        f"{output} cannot be written: {error.strerror}",
        where="--output",
        action=action or remedy(error),
    )

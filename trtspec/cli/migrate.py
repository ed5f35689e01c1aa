"""``trtspec migrate``: a file for one TensorRT-LLM release, moved to another."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trtspec.cli.common import json_option, print_json
from trtspec.cli.paths import OutputPath, write_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtspec.trtllm.migrate.change import Change

_WIDEST = 96
_COLOURS = {
    "blocked": "red",
    "warned": "yellow",
    "converted": "cyan",
    "renamed": "cyan",
    "added": "green",
    "removed": "magenta",
}


@click.command("migrate")
@click.argument("file", type=click.Path())
@click.option(
    "--to",
    "target",
    required=True,
    metavar="VERSION",
    help="TensorRT-LLM to move to, such as 1.2.1, 1.4.0rc4 or main.",
)
@click.option(
    "--from",
    "source",
    metavar="VERSION",
    help="TensorRT-LLM that FILE was written for; found out from its keys if unset.",
)
@click.option(
    "--output",
    type=OutputPath(),
    help="File to write; stdout if not given.",
)
@json_option
def command(
    file: str, target: str, source: str | None, output: Path | None, as_json: bool
) -> None:
    """Move FILE, a YAML of the LLM API or a recipe, to another TensorRT-LLM release.

    Keys that were renamed, units and meanings that changed are rewritten; each change
    is told on stderr, the result goes to stdout. Exits with 3, and writes nothing, if
    something has no equivalent or --from contradicts the file.

    \b
    Example:
      trtspec migrate llm_args.yaml --from 1.2.1 --to 1.4.0rc4
    """  # noqa: D301  click wants the backspace itself
    from trtspec.errors import FindingsError
    from trtspec.trtllm.migrate.change import count
    from trtspec.trtllm.migrate.moving import move_file

    moved = move_file(file, target, source)
    if output is not None and moved.text is not None:
        write_output(output, moved.text)  # before it is said to be migrated
    if as_json:
        print_json(moved.as_json())
    else:
        _tell(moved.title, moved.changes)
        if moved.emitted_changes:
            _tell(moved.emitted_title, moved.emitted_changes)
        for note in moved.notes:
            click.echo(f"note: {note}", err=True)
    if moved.text is None:
        number = count(moved.changes, "blocked")
        raise FindingsError(f"{number} blocked: nothing is written", where=file)
    if output is not None:
        click.echo(f"written: {output}", err=True)
    elif not as_json:
        click.echo(moved.text, nl=False)


def _tell(title: str, changes: Sequence[Change]) -> None:
    """Write the changes to stderr, what needs a decision first."""
    from trtspec.trtllm.migrate.told import counted, table

    width = min(shutil.get_terminal_size().columns, _WIDEST)
    click.echo(f"{title}: {counted(changes)}", err=True)
    for kind, lines in table(changes, width):
        label = click.style(kind, fg=_COLOURS[kind], bold=True)
        first: Any = lines[0].replace(kind, label, 1)
        click.echo("\n".join([first, *lines[1:]]), err=True)

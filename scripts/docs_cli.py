"""Writes docs/cli.md's help texts: what ``trtspec COMMAND --help`` prints.

``python scripts/docs_blocks.py docs/cli.md`` writes them into the page.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from trtspec.cli.main import COMMANDS, cli  # noqa: E402  found by the path above

WIDTH = 80


def quoted_help() -> Iterator[str]:
    """Give what this script prints, in a process of its own.

    click keeps a command's help option, which depends on who asked first.
    """
    done = subprocess.run(
        [sys.executable, __file__],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    yield from done.stdout.splitlines()


def helped() -> Iterator[str]:
    """Give the help of trtspec, then of each command under a heading of its own."""
    with cli.make_context("trtspec", ["methods"], terminal_width=WIDTH) as top:
        yield from _quoted(cli.get_help(top))
        for name in COMMANDS:
            yield ""
            yield f"## {name}"
            yield ""
            yield from _quoted(_help_of(top, name))


def _help_of(top: click.Context, name: str) -> str:
    command = cli.get_command(top, name)
    assert command is not None
    with click.Context(command, info_name=name, parent=top) as context:
        return command.get_help(context)


def _quoted(text: str) -> Iterator[str]:
    yield "```text"
    yield from text.rstrip().splitlines()
    yield "```"


MAKERS: dict[str, Callable[..., Iterator[str]]] = {"cli": quoted_help}


def main() -> int:
    """Print what the page has."""
    print("\n".join(helped()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What programs read on stdout: documents; of an error, too, if there is none yet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from trtspec.errors import Problem


@dataclass
class _Stdout:
    """Whether this process has printed a document."""

    used: bool = False


_STDOUT = _Stdout()


def begin() -> None:
    """Forget what an earlier command of this process has printed."""
    _STDOUT.used = False


def print_document(value: object) -> None:
    """Write one JSON document to stdout, in ASCII: any encoding can hold it."""
    print_line(json.dumps(value, indent=2))


def print_line(text: str) -> None:
    """Write what is JSON already to stdout."""
    _STDOUT.used = True
    click.echo(text)


def print_problems(problems: Sequence[Problem], code: int, *, in_lines: bool) -> None:
    """Write what is wrong as a document, unless there is a document already.

    What has findings, or results, has told the reader of stdout what became of it.

    :param code: the exit code.
    :param in_lines: whether a document of this command is one line.
    """
    if _STDOUT.used:
        return
    told = {
        "verdict": "error",
        "exit_code": code,
        "problems": [asdict(problem) for problem in problems],
    }
    click.echo(json.dumps(told, indent=None if in_lines else 2))

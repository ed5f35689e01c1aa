"""What becomes of output that nobody reads, that has no room, or cannot be encoded."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from trtspec.errors import TrtspecError

_LABEL = re.compile(r"  (allowed|do): ")
"""What the further lines of a problem begin with."""


class UnreadError(Exception):
    """The reader of our output is gone (``trtspec ... | head``)."""


@contextmanager
def closed_pipes_as_unread() -> Iterator[None]:
    """Keep the error from click and rich, which end the program with 1 themselves.

    :raises UnreadError: in its place.
    """
    try:
        yield
    except BrokenPipeError as error:
        raise UnreadError from error
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):
            raise UnreadError from end
        raise


def escape_what_cannot_be_encoded() -> None:
    """Print a name that the encoding cannot hold with escapes, in place of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say_error(message: str) -> None:
    """Write an error to stderr; where nobody reads that, the exit code still tells.

    It is wrapped for a terminal. In a file, where it is searched and cut by line, each
    part of it stays one line.
    """
    text = f"error: {message}"
    with suppress(OSError):
        if sys.stderr.isatty():
            text = "\n".join(_wrapped(text))
        click.echo(text, err=True)


def _wrapped(text: str) -> Iterator[str]:
    """Wrap each line by itself; what is indented further is to be copied as it is."""
    from trtspec.cli.paragraph import paragraph

    for line in text.splitlines():
        label = _LABEL.match(line)
        if label is None and line.startswith(" "):
            yield line
            continue
        first = label.group() if label else ""
        yield from paragraph(line[len(first) :], first) or [""]


def end_streams(code: int) -> int:
    """Write what the streams still hold; 5 if stdout's rest of a success is lost.

    A stream that takes nothing more is led nowhere: Python's own end would complain.
    """
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        if stream is None or stream.closed:
            continue
        try:
            stream.flush()
        except OSError as error:
            if code == 0 and not isinstance(error, BrokenPipeError):
                is_stderr = stream in (sys.stderr, sys.__stderr__)
                code = _lost(error, "stderr" if is_stderr else "stdout")
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
    return code


def _lost(error: OSError, stream: str) -> int:
    from trtspec.cli.system_errors import system_problem

    problem = system_problem(error, stream=stream)
    say_error(str(problem))
    return TrtspecError.exit_code

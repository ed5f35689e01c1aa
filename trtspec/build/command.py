"""How a program is run as part of a build: output to a log, never left behind."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from trtspec.build.space import no_space
from trtspec.errors import BuildError

_FULL_MARKS = ("No space left on device", "os error 28", "Disk quota exceeded")
_TAIL_BYTES = 20_000
_LOOK_SECONDS = 0.25

OUTPUT = "{output}"
"""Stands for the folder that a stage fills, wherever an argument is exactly this."""


@dataclass(frozen=True, slots=True)
class Command:
    """A program that a stage runs, independent of where things are.

    :param arguments: the program first. An argument such as ``{output}`` or
        ``{convert-target}`` stands for a path; see ``resolved``.
    :param environment: variables set on top of ours.
    :param directory: where it is run, such as ``{output}``.
    """

    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: str = OUTPUT

    def resolved(self, paths: Mapping[str, str]) -> tuple[str, ...]:
        """Put paths in the places that stand for them.

        :param paths: by name: ``output``, a checkpoint's role, an earlier stage.
        """
        return tuple(resolved(argument, paths) for argument in self.arguments)


def slot(name: str) -> str:
    """Give the argument that stands for a path."""
    return f"{{{name}}}"


def resolved(argument: str, paths: Mapping[str, str]) -> str:
    """Give the path that an argument stands for, or the argument itself."""
    if argument[:1] == "{" and argument[-1:] == "}":
        return paths.get(argument[1:-1], argument)
    return argument


class CommandError(BuildError):
    """A program failed.

    :param tail: the last lines that it wrote.
    """

    def __init__(self, what: str, *, action: str, tail: Sequence[str] = ()) -> None:
        super().__init__(what, action=action)
        self.tail = tuple(tail)


def run_command(
    arguments: Sequence[str],
    *,
    log_file: Path,
    writes_to: Path,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    watch: Callable[[str], None] | None = None,
) -> None:
    """Run a program to its end; its output goes to the log only.

    The program's standard input is a pipe that closes when we die, so that one of
    ours can notice and end too. It is killed when we are interrupted, with all that it
    started.

    :param writes_to: the folder it fills, to name when the disk is full.
    :param directory: where it is run; our own working directory if None.
    :param watch: told the log's last line now and then.
    :raises CommandError: if it cannot be started or fails, with its last lines.
    """
    with log_file.open("ab") as log:
        log.write(f"$ {' '.join(arguments)}\n".encode())
        log.flush()
        said_from = log.tell()

        def look() -> None:
            if watch is not None:
                watch(last_line(log_file, said_from))

        code = _run(arguments, log, environment, directory, look)
    if code != 0:
        raise _failure(code, last_lines(log_file, said_from), log_file, writes_to)


def _run(
    arguments: Sequence[str],
    log: IO[bytes],
    environment: Mapping[str, str] | None,
    directory: Path | None,
    look: Callable[[], None],
) -> int:
    try:
        process = subprocess.Popen(  # noqa: S603 - no shell, and no text of a user's
            arguments,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=directory,
            start_new_session=True,
            preexec_fn=_die_with_us,  # noqa: PLW1509 - one system call, no locks
        )
    except OSError as error:
        raise CommandError(
            f"cannot start {arguments[0]}: {error.strerror}", action=""
        ) from error
    try:
        return _wait(process, look)
    finally:
        _kill_all(process)


_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def _die_with_us() -> None:
    """Have the kernel kill the program when we are killed: it would go on unseen."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, 9)


def _wait(process: subprocess.Popen[bytes], look: Callable[[], None]) -> int:
    while True:
        try:
            return process.wait(_LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            look()


def _kill_all(process: subprocess.Popen[bytes]) -> None:
    """Kill the program, if it still runs, and what it started and left behind."""
    # a group is there for as long as any of its members, whatever became of the first
    with suppress(ProcessLookupError):
        os.killpg(process.pid, 9)
    process.wait()


def _failure(
    code: int, tail: Sequence[str], log_file: Path, writes_to: Path
) -> BuildError:
    last = tail[-1] if tail else ""
    if any(mark in last for mark in _FULL_MARKS):
        return no_space(writes_to)
    if code < 0:
        last = f"ended by signal {-code}" + (
            ": the system may be out of memory" if code == -9 else ""
        )
    return CommandError(
        last or f"exit status {code}", action=f"see the log {log_file}", tail=tail
    )


def last_line(log_file: Path, start: int = 0) -> str:
    """Give the last line of a log that says anything; empty if there is none.

    :param start: the byte from which on to look.
    """
    return next(reversed(last_lines(log_file, start)), "")


def last_lines(log_file: Path, start: int = 0) -> list[str]:
    """Give the last lines of a log that say anything, in order.

    Of a line that a program wrote over itself, such as a progress bar, the last
    state counts.

    :param start: the byte from which on to look.
    """
    with log_file.open("rb") as stream:
        stream.seek(max(start, log_file.stat().st_size - _TAIL_BYTES))
        text = stream.read().decode(errors="replace").replace("\r\n", "\n")
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return [line.strip() for line in lines if line.strip()]

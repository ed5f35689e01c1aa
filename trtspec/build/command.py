"""How a program is run as part of a build: output to a log, never left behind."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from trtspec.build.space import no_space
from trtspec.errors import BuildError

_FULL_MARKS = ("No space left on device", "os error 28", "Disk quota exceeded")
_TAIL_BYTES = 20_000


def run_command(
    arguments: Sequence[str],
    *,
    log_file: Path,
    writes_to: Path,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Run a program to its end; its output goes to the log only.

    The program's standard input is a pipe that closes when we die, so that one of
    ours can notice and end too. It is killed when we are interrupted.

    :param writes_to: the folder it fills, to name when the disk is full.
    :raises BuildError: if it cannot be started or fails, with its last line.
    """
    with log_file.open("ab") as log:
        log.write(f"$ {' '.join(arguments)}\n".encode())
        log.flush()
        said_from = log.tell()
        code = _run(arguments, log, environment)
    if code != 0:
        raise _failure(code, last_line(log_file, said_from), log_file, writes_to)


def _run(
    arguments: Sequence[str], log: IO[bytes], environment: Mapping[str, str] | None
) -> int:
    try:
        process = subprocess.Popen(  # noqa: S603 - no shell, and no text of a user's
            arguments,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
        )
    except OSError as error:
        raise BuildError(f"cannot start {arguments[0]}: {error.strerror}") from error
    try:
        return process.wait()
    finally:
        process.kill()
        process.wait()


def _failure(code: int, last: str, log_file: Path, writes_to: Path) -> BuildError:
    if any(mark in last for mark in _FULL_MARKS):
        return no_space(writes_to)
    if code < 0:
        last = f"ended by signal {-code}" + (
            ": the system may be out of memory" if code == -9 else ""
        )
    return BuildError(last or f"exit status {code}", action=f"see the log {log_file}")


def last_line(log_file: Path, start: int = 0) -> str:
    """Give the last line of a log that says anything; empty if there is none.

    :param start: the byte from which on to look.
    """
    with log_file.open("rb") as stream:
        stream.seek(max(start, log_file.stat().st_size - _TAIL_BYTES))
        lines = stream.read().decode(errors="replace").splitlines()
    return next((line.strip() for line in reversed(lines) if line.strip()), "")

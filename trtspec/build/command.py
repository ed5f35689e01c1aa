"""How a program is run as part of a build: output to a log, never left behind."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO

from trtspec.build.left_running import noted
from trtspec.build.log_lines import last_line, last_lines
from trtspec.build.space import no_space
from trtspec.errors import BuildError

_FULL_MARKS = ("No space left on device", "os error 28", "Disk quota exceeded")
_LOOK_SECONDS = 0.25


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
    notes_in: Path | None = None,
) -> None:
    """Run a program to its end; its output goes to the log only.

    The program's standard input is a pipe that closes when we die, so that one of
    ours can notice and end too. It is killed when we are interrupted, with all that it
    started.

    :param writes_to: the folder it fills, to name when the disk is full.
    :param environment: all of it; ours if None.
    :param directory: where it is run; our own working directory if None.
    :param watch: told the log's last line now and then.
    :param notes_in: the stage's temporary folder, for programs that start others: if
        we are killed, the next build ends what they left.
    :raises CommandError: if it cannot be started or fails, with its last lines.
    """
    with log_file.open("ab") as log:
        log.write(f"$ {' '.join(arguments)}\n".encode())
        log.flush()
        said_from = log.tell()

        def look() -> None:
            if watch is not None:
                watch(last_line(log_file, said_from))

        ours = os.environ if environment is None else environment
        with noted(notes_in, ours) as whole:
            code = _run(arguments, log, whole, directory, look)
    if code != 0:
        raise _failure(code, last_lines(log_file, said_from), log_file, writes_to)


def _run(
    arguments: Sequence[str],
    log: IO[bytes],
    environment: Mapping[str, str],
    directory: Path | None,
    look: Callable[[], None],
) -> int:
    process = None
    try:
        with _signals_held_back() as before:
            process = subprocess.Popen(  # noqa: S603 - no shell, no text of a user's
                arguments,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=directory,
                start_new_session=True,
                # two system calls, no locks
                preexec_fn=partial(_begin, before),  # noqa: PLW1509
            )
        return _wait(process, look)
    except OSError as error:
        if process is not None:
            raise
        raise CommandError(
            f"cannot start {arguments[0]}: {error.strerror}", action=""
        ) from error
    finally:
        if process is not None:
            _kill_all(process)


_HELD_BACK = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def _signals_held_back() -> Iterator[set[int]]:
    """Have an interrupt wait until a program is started; gives the mask before.

    Python drops exceptions of the functions that libraries have it call at a fork, such
    as those of filelock: an interrupt in one of them would be lost.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD_BACK)
    try:
        yield {int(number) for number in before}
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(mask: set[int]) -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    die_with_us()


_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def die_with_us() -> None:
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
    # a program says more after it, such as that a worker has failed
    if any(mark in line for line in tail for mark in _FULL_MARKS):
        return no_space(writes_to)
    last = tail[-1] if tail else ""
    if code < 0:
        last = f"ended by signal {-code}" + (
            ": the system may be out of memory" if code == -9 else ""
        )
    return CommandError(
        last or f"exit status {code}", action=f"see the log {log_file}", tail=tail
    )

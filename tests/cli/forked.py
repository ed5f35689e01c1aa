"""Runs the command line in a process of its own that need not import torch again.

Each process is forked from one that has torch and transformers loaded, which saves some
seconds. It has its own streams, environment and exit code, like one from a shell; tests
of signals and of what an import costs start real ones.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import DupFd
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory

TIMEOUT = 240
PRELOADED = ["torch", "transformers", "trtspec.cli.main", "trtspec.reference.runner"]

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(PRELOADED)


def trtspec(
    arguments: Sequence[str | bytes],
    *,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> CompletedProcess[bytes]:
    """Run ``trtspec ARGUMENTS``; like ``subprocess.run`` with captured output."""
    with TemporaryDirectory() as folder:
        streams = [str(Path(folder) / name) for name in ("stdin", "stdout", "stderr")]
        Path(streams[0]).write_bytes(stdin)
        words = [os.fsdecode(word) for word in arguments]
        given = dict(os.environ if environment is None else environment)
        process = _context.Process(target=_command, args=(words, streams, given))
        process.start()
        process.join(TIMEOUT)
        if process.is_alive():
            process.kill()
            raise TimeoutError(f"trtspec {words} did not end")
        stdout, stderr = (Path(name).read_bytes() for name in streams[1:])
        code = process.exitcode
        return CompletedProcess(words, -1 if code is None else code, stdout, stderr)


class _Stream:
    """A descriptor that a process gets a duplicate of, by the time it was started."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __reduce__(self):
        return _taken, (DupFd(self._number),)


def _taken(handed) -> int:
    return handed.detach()


def start(
    arguments: Sequence[str], stdout: int, stderr: int, environment: Mapping[str, str]
) -> BaseProcess:
    """Start ``trtspec ARGUMENTS`` and go on; like ``subprocess.Popen``.

    :param stdout, stderr: descriptors; the process has its own when this returns.
    """
    streams = [_Stream(stdout), _Stream(stderr)]
    given = (list(arguments), streams, dict(environment))
    process = _context.Process(target=_started, args=given)
    process.start()
    return process


def _started(words: list[str], streams: list[int], environment: dict[str, str]) -> None:
    """Be a process that reads nothing and writes to descriptors of its own."""
    _become(words, [os.open(os.devnull, os.O_RDONLY), *streams], environment)


def _command(words: list[str], streams: list[str], environment: dict[str, str]) -> None:
    """Be the process: take the streams in place of the inherited ones, then run."""
    flags = (os.O_RDONLY, *[os.O_WRONLY | os.O_CREAT] * 2)
    opened = [os.open(*of, 0o600) for of in zip(streams, flags, strict=True)]
    _become(words, opened, environment)


def _become(words: list[str], streams: list[int], environment: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    utf8 = {"encoding": "utf-8", "errors": "strict"}
    sys.stdin = sys.__stdin__ = os.fdopen(0, "r", **utf8)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", **utf8)
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", buffering=1, **utf8)
    sys.argv = ["trtspec", *words]
    from trtspec.__main__ import run

    run()

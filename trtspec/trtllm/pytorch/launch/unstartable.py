"""Why the server's program cannot be started, and what to do about its file."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from trtspec.errors import RunError

_AGAIN = "install TensorRT-LLM again in this environment, or run in NVIDIA's image"
_LONGEST_LINE = 256


def unstartable(program: str, error: OSError) -> RunError:
    """Give the error for a program that the system refuses to start.

    :param program: the file, or a name that was looked for on PATH.
    """
    fault, action = _fault(Path(program), error)
    return RunError(f"cannot start {program}: {fault}", action=action)


def _fault(file: Path, error: OSError) -> tuple[str, str]:
    reason = error.strerror or str(error)
    if error.filename not in (None, str(file)):
        return f"{error.filename}: {reason}", "build the recipe again"
    if not file.is_file():
        return reason, _AGAIN
    if not os.access(file, os.X_OK):
        return f"{reason}: the file is not executable", f"chmod +x {file}"
    interpreter = _interpreter(file)
    if error.errno == errno.ENOEXEC:
        return f"{reason}: neither a program of this machine nor a script", _AGAIN
    if interpreter and not os.access(interpreter, os.X_OK):
        fault = f"its first line asks for {interpreter}, which is not there"
        if Path(interpreter).exists():
            fault = f"its first line asks for {interpreter}, which is no program"
        return fault, f"{_AGAIN}; an environment that was moved has such lines"
    return reason, _AGAIN


def _interpreter(file: Path) -> str:
    """Give the program that a script's first line names; empty if there is none."""
    try:
        with file.open("rb") as stream:
            first = stream.readline(_LONGEST_LINE)
    except OSError:
        return ""
    words = os.fsdecode(first[2:]).split() if first.startswith(b"#!") else []
    return words[0] if words else ""

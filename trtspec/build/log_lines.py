"""What a log says at its end."""

from __future__ import annotations

from pathlib import Path

_TAIL_BYTES = 20_000


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

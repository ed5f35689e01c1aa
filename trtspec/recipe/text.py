"""How a user's text files are read, and how a message quotes from them."""

from __future__ import annotations

import errno
import json
import stat
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path
from typing import BinaryIO

from trtspec.errors import Problem

_LONGEST_SHOWN = 60


class NotAFileError(OSError):
    """It could be opened, but reading it may never end."""


def open_file(path: Path, *, allow_pipe: bool = False) -> BinaryIO:
    """Open a regular file for reading.

    :param allow_pipe: whether a pipe will do, which can be read only once.
    :raises NotAFileError: for a pipe, a device or a socket.
    :raises OSError: if it cannot be opened.
    """
    mode = path.stat().st_mode  # opening a pipe would wait for its writer
    plain = stat.S_ISREG(mode) or stat.S_ISDIR(mode)  # open() refuses a directory
    if not plain and not (allow_pipe and stat.S_ISFIFO(mode)):
        raise NotAFileError("a pipe" if stat.S_ISFIFO(mode) else "a device or socket")
    return path.open("rb")


def shown(text: str, *, quoted: bool = False) -> str:
    """Give a piece of a user's file as a message shows it: short, in one line.

    :param quoted: whether it stands in quotes in the file.
    """
    if len(text) > _LONGEST_SHOWN:
        text = text[: _LONGEST_SHOWN - 3] + "..."
    if text and text.isprintable() and not quoted:
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def decode(data: bytes, source: str, first_line: int = 1) -> str | Problem:
    """Decode UTF-8; gives a problem with its line if it is something else.

    :param data: the file's content, or a line of it; a byte order mark is dropped.
    :param source: names the file in the problem.
    :param first_line: line of the file that ``data`` begins with.
    """
    if first_line == 1:
        if data.startswith((BOM_UTF16_BE, BOM_UTF16_LE)):
            return _not_utf8("the file is UTF-16 text", f"{source}:1")
        data = data.removeprefix(BOM_UTF8)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = first_line + data.count(b"\n", 0, error.start)
        before = data[: error.start].rpartition(b"\n")[2].decode()[-20:]
        after = f" after {shown(before, quoted=True)}" if before else ""
        what = f"the byte 0x{data[error.start]:02x}{after} is not UTF-8"
        return _not_utf8(what, f"{source}:{line}")


def _not_utf8(what: str, where: str) -> Problem:
    return Problem(what, where, "UTF-8 text", "save the file as UTF-8")


def unreadable(error: OSError, subject: str, where: str, action: str = "") -> Problem:
    """Say why a file could not be opened.

    :param subject: what the file was to be, such as "the recipe".
    :param action: what to do, unless the reason itself suggests something.
    """
    if isinstance(error, FileNotFoundError) and where == "-":
        action = "save it as a file and give its path"
        return Problem(f"{subject} is not read from stdin", where, action=action)
    if isinstance(error, FileNotFoundError):
        return Problem(f"{subject} does not exist", where, action=action)
    if isinstance(error, IsADirectoryError):
        return Problem(f"{subject} is a directory, not a file", where, action=action)
    if isinstance(error, NotAFileError):
        action = "save it as a file and give its path"
        return Problem(f"{subject} is {error}, not a file", where, action=action)
    if isinstance(error, PermissionError):
        action = "give this user the right to read it (chmod u+r)"
    if error.errno == errno.ELOOP:
        action = "point the link at the file that is meant"
        what = f"{subject} is a link that leads back to itself"
        return Problem(what, where, action=action)
    reason = error.strerror or type(error).__name__
    return Problem(f"{subject} cannot be read: {reason}", where, action=action)

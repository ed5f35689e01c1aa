"""What to do about an error of the operating system, and which option it is about."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from traceback import walk_tb

import click

from trtspec.errors import Problem
from trtspec.files import cache_dir

_FULL = "free some space there, or name a place that has more"
_RIGHTS = "give this user the right to it (chmod, chown), or name another place"
_REMEDIES = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: "raise the limit of a file's size (ulimit -f), or name a place on a "
    "file system that holds files of this size",
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EROFS: "name a place that can be written",
    errno.ENOENT: "check the path; the directory that it is in must exist",
    errno.ENOTDIR: "check the path: a part of it is a file, not a directory",
    errno.EISDIR: "name a file, not a directory",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ELOOP: "check the symbolic links on the path: they lead in a circle",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.ENFILE: "end some of the programs that run here: too many files are open",
    errno.ENOMEM: "end some of the programs that run here: memory is short",
    errno.EAGAIN: "end some of the programs that run here, or raise ulimit -u",
}
_OTHERWISE = "run again with --debug to see which step it was"


def remedy(error: OSError) -> str:
    """Give the next step for the reader."""
    return _REMEDIES.get(error.errno or 0, _OTHERWISE)


def system_problem(
    error: OSError, arguments: Sequence[str] = (), *, stream: str = ""
) -> Problem:
    """Say what failed, of which option or variable, and what to do.

    :param arguments: the command line, whose option may have named the place.
    :param stream: the stream that was written to, if it is known to be one.
    """
    reason = error.strerror or str(error) or type(error).__name__
    name = _text(error.filename)
    if name:
        return Problem(
            f"{name}: {reason}", _told_by(name, arguments), action=remedy(error)
        )
    return Problem(reason, stream or _stream(error), action=remedy(error))


def _text(filename: object) -> str:
    if isinstance(filename, bytes):
        return filename.decode(errors="backslashreplace")
    return "" if filename is None else str(filename)


def _told_by(name: str, arguments: Sequence[str]) -> str:
    """Name the option or variable that led to a file; empty if it is none."""
    path = Path(name).absolute()
    for option, value in _options(arguments):
        if value and path.is_relative_to(Path(value).absolute()):
            return option
    return "$TRTSPEC_CACHE" if path.is_relative_to(cache_dir().absolute()) else ""


def _options(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    for word, following in zip_longest(arguments, arguments[1:], fillvalue=""):
        if word.startswith("--"):
            option, equals, value = word.partition("=")
            yield option, value if equals else following


def _stream(error: OSError) -> str:
    """Name the stream that was printed to, which the error itself does not."""
    for frame, _ in walk_tb(error.__traceback__):
        if frame.f_code is click.echo.__code__:
            return "stderr" if frame.f_locals["err"] else "stdout"
    return ""

"""Whether a file that the user named can serve: for the result, or as prompts."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trtspec.build.space import FULL
from trtspec.errors import RunError, UsageError

_DENIED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_IN_THE_WAY = frozenset({errno.ENOTDIR, errno.EEXIST})
_ANOTHER = "name another directory with --output"


def run_directory(output: Path) -> Path:
    """Give the directory that ``--output`` means, made later.

    :raises UsageError: if the path is empty, or something else is there.
    """
    if output == Path():
        raise UsageError(
            "the path is empty", where="--output", action="name a directory"
        )
    if output.exists() and not output.is_dir():
        raise UsageError(
            f"{output} is there already and is no directory",
            where="--output",
            allowed="a new directory, or one without a run in it",
        )
    return output


def require_rereadable(prompts: Path) -> None:
    """Refuse a file of prompts that would be empty when it is read again.

    A file that does not exist is left to its reader.

    :raises UsageError: for a pipe, device, socket or directory.
    """
    if found := _irregular(prompts):
        raise UsageError(
            f"{prompts} is {found}, but must be a regular file: "
            "it is read more than once",
            where="--prompts",
            action="write the prompts to a file and name that",
        )


def _irregular(path: Path) -> str:
    """Name what is there; empty for a regular file, or if nothing can be seen."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return ""
    if stat.S_ISREG(mode):
        return ""
    kinds = {
        stat.S_IFDIR: "a directory",
        stat.S_IFIFO: "a pipe",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
        stat.S_IFSOCK: "a socket",
    }
    return kinds.get(stat.S_IFMT(mode), "something else")


def require_writable(path: Path) -> None:
    """Try to write where the result will go, before anything is measured.

    No directory is made for this: one that is missing can be made if its parent can be
    written, and a bench beside this one cannot lose a directory that it relies on.

    :raises RunError: if the result could not be written; nothing is left behind.
    """
    with writing(path):
        name = f".{path.name}.{os.getpid()}.probe"
        probe = nearest_directory(path) / name
        try:
            probe.write_text("x")
        finally:
            probe.unlink(missing_ok=True)


def nearest_directory(path: Path) -> Path:
    """Give the directory of a file, or the nearest one above it that exists.

    :raises NotADirectoryError: naming what stands where a directory is expected.
    """
    for parent in path.absolute().parents:
        try:
            mode = parent.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            if not os.path.islink(parent):
                continue
            mode = 0  # a link to nothing: no directory can be made there
        if stat.S_ISDIR(mode):
            return parent
        break
    code = errno.ENOTDIR
    raise NotADirectoryError(code, os.strerror(code), str(parent))


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the file system's refusals to write a result into words.

    :raises RunError: for any OSError.
    """
    try:
        yield
    except OSError as error:
        what, action = _refusal(error, path)
        raise RunError(
            f"the result cannot be written: {what}", where=str(path), action=action
        ) from error


def _refusal(error: OSError, path: Path) -> tuple[str, str]:
    """Say what is wrong and what to do."""
    reason = error.strerror or str(error)
    if error.errno in FULL:
        return reason, f"free some space, or {_ANOTHER}"
    if error.errno in _DENIED:
        what = f"you may not write in {path.absolute().parent} ({reason})"
        return what, f"{_ANOTHER}, in a directory that you may write"
    if error.errno in _IN_THE_WAY:
        return f"{error.filename} is in the way: it is not a directory", _ANOTHER
    return reason, _ANOTHER

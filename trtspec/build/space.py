"""Whether there is room to write, and what a disk refuses, in one clear line."""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trtspec.errors import BuildError, UsageError

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
REFUSED = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.EISDIR}
)
_UNITS = ("B", "kB", "MB", "GB", "TB")
_CHOOSE_ANOTHER = "or name another directory with --engines"


class NoSpaceError(BuildError):
    """The disk is full, or would become so (exit 5)."""


def human_bytes(count: int) -> str:
    """Write a number of bytes for people, in powers of 1000: 269 MB."""
    size = float(count)
    for unit in _UNITS[:-1]:
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} {_UNITS[-1]}"


def free_bytes(directory: Path) -> int:
    """Give the free bytes where a directory is, or would be made."""
    existing = next(p for p in (directory, *directory.absolute().parents) if p.exists())
    return shutil.disk_usage(existing).free


def require_space(directory: Path, needs_bytes: int, what: str) -> None:
    """Refuse to start what cannot be finished.

    :raises NoSpaceError: if fewer than ``needs_bytes`` bytes are free.
    """
    free = free_bytes(directory)
    if free < needs_bytes:
        raise NoSpaceError(
            f"{what} needs {human_bytes(needs_bytes)} in {directory}, "
            f"but {human_bytes(free)} are free",
            action=f"free some space, {_CHOOSE_ANOTHER}",
        )


def no_space(directory: Path) -> NoSpaceError:
    """Make the error for a disk that became full while writing."""
    return NoSpaceError(
        f"no space left on the disk of {directory}",
        action=f"free some space, {_CHOOSE_ANOTHER}",
    )


@contextmanager
def writing(directory: Path) -> Iterator[None]:
    """Turn the file system's refusals to write below a directory into build errors.

    :raises NoSpaceError: if the disk is full.
    :raises BuildError: if the directory cannot be written.
    """
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise no_space(directory) from error
        if error.errno in REFUSED and _is_below(error, directory):
            raise BuildError(
                f"cannot write in {directory}: {error.strerror} ({error.filename})",
                action=f"make it a directory that you may write, {_CHOOSE_ANOTHER}",
            ) from error
        raise


def require_writable(directory: Path) -> None:
    """Make a directory, and make sure that files can be made in it.

    :raises NoSpaceError: if the disk is full.
    :raises UsageError: if it is no directory that can be made and written.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        if error.errno in FULL:
            raise no_space(directory) from error
        raise UsageError(
            f"cannot write in {directory}: {error.strerror}",
            where="--engines",
            action="name a directory that you may write",
        ) from error


def _is_below(error: OSError, directory: Path) -> bool:
    # a source that cannot be read is not the fault of where we write
    names = [n for n in (error.filename, error.filename2) if n is not None]
    base = directory.absolute()
    paths = [Path(str(name)).absolute() for name in names]
    return not paths or any(
        p.is_relative_to(base) or base.is_relative_to(p) for p in paths
    )

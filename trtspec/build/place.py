"""How an artifact's files get to their place: linked where possible, never half."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

_NO_LINKS = frozenset(
    {errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP, errno.ENOSYS}
)


def place(source: Path, destination: Path) -> None:
    """Make ``destination`` a hard link to ``source``, or a copy of it."""
    destination.parent.mkdir(parents=True, exist_ok=True)
    temporary = destination.with_name(f".{destination.name}.{os.getpid()}.tmp")
    temporary.unlink(missing_ok=True)
    try:
        _link_or_copy(source, temporary)
        temporary.replace(destination)
    finally:
        # also left by success: a link renamed over one of the same file stays
        temporary.unlink(missing_ok=True)


def _link_or_copy(source: Path, destination: Path) -> None:
    try:
        os.link(source, destination)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        shutil.copyfile(source, destination)


def place_folder(source: Path, destination: Path, files: Mapping[str, str]) -> None:
    """Fill a folder with exactly the named files of another one."""
    destination.mkdir(parents=True, exist_ok=True)
    for name in files:
        place(source / name, destination / name)
    for path in destination.rglob("*"):
        if path.is_file() and path.relative_to(destination).as_posix() not in files:
            path.unlink()


def replace_text(path: Path, content: bytes) -> None:
    """Write a small file in one step."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def remove_leftovers(directory: Path) -> None:
    """Remove the temporary files of a build that died while it wrote here."""
    for path in directory.rglob(".*.tmp"):
        path.unlink(missing_ok=True)

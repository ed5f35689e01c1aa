"""Who may work on a stage or artifact now, and what dead builds left behind."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trtspec.build.left_running import end_left_running
from trtspec.build.progress import Progress

_GRACE_SECONDS = 0.3
"""A build that clears leftovers holds a lock for an instant: not worth a message."""


def stages_directory(engines: Path) -> Path:
    """Give the folder that keeps completed stages, locks and logs."""
    return engines / ".stages"


def lock_file(engines: Path, label: str) -> Path:
    """Give the lock of one stage or artifact."""
    return stages_directory(engines) / "locks" / f"{label}.lock"


@contextmanager
def held(engines: Path, label: str, progress: Progress) -> Iterator[None]:
    """Hold the lock of ``label``; say so when another build has it, and wait.

    :raises OSError: if the lock file cannot be made.
    """
    from filelock import FileLock, Timeout

    path = lock_file(engines, label)
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=_GRACE_SECONDS)
    except Timeout:
        progress.line(f"waiting for another build that is making {label}")
        lock.acquire(poll_interval=0.1)
    try:
        yield
    finally:
        lock.release()


def temporary_stage(engines: Path, label: str, pid: int) -> Path:
    """Give the folder in which process ``pid`` fills a stage."""
    return stages_directory(engines) / f"tmp-{label}-{pid}"


def temporary_artifact(engines: Path, label: str, pid: int) -> Path:
    """Give the folder in which process ``pid`` assembles an artifact."""
    return engines / f".tmp-{label}-{pid}"


def sweep(engines: Path) -> None:
    """Remove the temporary folders of builds that died, and end what they left.

    A folder's owner holds the lock of its label for as long as it lives, so a lock
    that is free means that the owner is gone, whatever its process id is now.
    """
    from filelock import FileLock, Timeout

    for folder in _temporary_folders(engines):
        label = folder.name.partition("tmp-")[2].rpartition("-")[0]
        path = lock_file(engines, label)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(path, timeout=0):
                end_left_running(folder)
                shutil.rmtree(folder, ignore_errors=True)
        except Timeout:
            continue


def _temporary_folders(engines: Path) -> list[Path]:
    stages = stages_directory(engines)
    return sorted([*stages.glob("tmp-*-*"), *engines.glob(".tmp-*-*")])

"""Which servers trtspec runs on this machine, and what dead ones left behind.

The kernel kills ``trtllm-serve`` together with us, but not what it has started, such as
a worker per GPU. So all of them bear a mark in their environment, and the mark is noted
in a folder of the cache: the next ``trtspec serve`` ends what a killed one left. A
process that starts with an environment of its own making is missed.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from trtspec.build.left_running import NOTE, end_left_running
from trtspec.errors import UsageError
from trtspec.files import cache_dir

_LOCK = "server.lock"
_LOG = "server.log"
_BEFORE = ".1"
_FOLDERS_KEPT = 20
"""Servers whose logs are kept: on a free port each start has a folder of its own."""


def servers_folder() -> Path:
    """Give the folder that has one folder per server, by artifact and port."""
    return cache_dir() / "servers"


@contextmanager
def server_folder(artifact: str, port: int) -> Iterator[Path]:
    """Give the folder of one server, and hold it for as long as we run.

    What servers without an owner left running is ended first.

    :param artifact: name of the artifact's directory.
    :raises UsageError: if another ``trtspec serve`` holds it, or the cache cannot be
        written.
    """
    folder = servers_folder() / f"{artifact}-{port}"
    with ExitStack() as stack:
        with _housekeeping():
            folder.mkdir(exist_ok=True)
            _sweep()
            if not stack.enter_context(_if_free(folder)):
                raise UsageError(
                    f"another trtspec serve serves {artifact} on port {port}",
                    where="--port",
                    action="stop it, or choose another port; 0 chooses a free one",
                )
            _drop_old_folders()
        yield folder


@contextmanager
def _housekeeping() -> Iterator[None]:
    """Keep other starts away while folders are made, swept and removed."""
    from filelock import FileLock

    lock = FileLock(servers_folder() / _LOCK)
    try:
        servers_folder().mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except OSError as error:
        raise UsageError(
            f"cannot write in {servers_folder()}: {error.strerror}",
            where="$TRTSPEC_CACHE",
            action="set TRTSPEC_CACHE to a directory that you may write",
        ) from error
    try:
        yield
    finally:
        lock.release()


def _sweep() -> None:
    """End what servers left running whose ``trtspec serve`` is gone."""
    for note in servers_folder().glob(f"*/{NOTE}"):
        with _if_free(note.parent) as free:
            if free:
                end_left_running(note.parent)
                note.unlink(missing_ok=True)


def _drop_old_folders() -> None:
    folders = [path for path in servers_folder().iterdir() if path.is_dir()]
    for folder in sorted(folders, key=_last_used)[:-_FOLDERS_KEPT]:
        with _if_free(folder) as free:
            if free:
                shutil.rmtree(folder, ignore_errors=True)


def _last_used(folder: Path) -> float:
    """When its log was last written, or else when a file in it was made."""
    # its owner may put a new log in the old one's place meanwhile
    with suppress(FileNotFoundError):
        return (folder / _LOG).stat().st_mtime
    return folder.stat().st_mtime


@contextmanager
def _if_free(folder: Path) -> Iterator[bool]:
    """Hold a server's folder if nobody else does; gives whether that is so."""
    from filelock import FileLock, Timeout

    try:
        lock = FileLock(folder / _LOCK)
        lock.acquire(timeout=0)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def own_log(log: Path) -> Path:
    """Make sure that a log of the user's can be added to.

    :raises UsageError: if it cannot.
    """
    try:
        log.open("ab").close()
    except OSError as error:
        raise UsageError(
            f"{log} cannot be written: {error.strerror}",
            where="--log",
            action="name a file in a directory that is there and that you may write",
        ) from error
    return log


def fresh_log(folder: Path) -> Path:
    """Give an empty log in a server's folder; the one before it is kept beside it."""
    log = folder / _LOG
    if log.exists():
        log.replace(folder / (_LOG + _BEFORE))
    log.touch()
    return log

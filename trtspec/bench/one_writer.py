"""Who may write a run's records: one process at a time."""

from __future__ import annotations

import fcntl
import os
import weakref
from pathlib import Path

from trtspec.errors import UsageError


class OneWriter:
    """Keeps a directory to this process, until it lets go, is forgotten, or ends.

    The lock is one on the directory itself (flock), so it leaves no file behind and
    dies with its process. Where a file system has none, as some network ones, there is
    nothing to hold, and the user has to see to it.

    :param directory: exists.
    :raises UsageError: if another run is being written there.
    :raises OSError: if the directory cannot be opened.
    """

    def __init__(self, directory: Path) -> None:
        place = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        self._let_go = weakref.finalize(self, os.close, place)
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.let_go()
            raise UsageError(
                f"another trtspec bench is writing in {directory}",
                where=str(directory),
                action="wait until it has ended, or name another directory",
            ) from None
        except OSError:
            self.let_go()

    def let_go(self) -> None:
        """Let others write; a second time does nothing."""
        self._let_go()

"""How a long-running command goes on when nobody reads its output any more."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trtspec.build.progress import Progress

_GONE = frozenset({errno.EPIPE, errno.EIO})
"""The reader of a pipe ended; the terminal was closed."""


def unheard(say: Callable[[str], None]) -> Callable[[str], None]:
    """Make a function that prints one that does so as long as somebody reads.

    :raises OSError: for anything but a reader that is gone.
    """

    def said(text: str) -> None:
        try:
            say(text)
        except OSError as error:
            if error.errno not in _GONE:
                raise
            _drop_what_is_buffered()

    return said


def unheard_progress(progress: Progress) -> Progress:
    """Tell progress as long as somebody reads it."""
    from trtspec.build.progress import Progress

    line, status = unheard(progress.line), unheard(progress.status)
    return Progress(line, status, progress.news_only)


def _drop_what_is_buffered() -> None:
    """Lead the streams that are closed nowhere, so that the end does not fail."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)

"""What our programs left running when we were killed, and how the next of us ends it.

The kernel kills a program that we started together with us, but not what it has started
itself, such as the workers of a builder or of a server. So all of them bear a mark in
their environment, and the mark is noted in a folder that the next of us looks at.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

NOTE = "process.json"
VARIABLE = "TRTSPEC_MARK"
_CLOCK_SECONDS = 2.0
"""A process's start is known to about this; its clock begins with the machine's."""
_PATIENCE_SECONDS = 10.0


@contextmanager
def noted(
    folder: Path | None, environment: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """Note that a program runs now; gives the environment it must have.

    :param folder: where the note is kept; None to note nothing.
    """
    if folder is None:
        yield dict(environment)
        return
    mark, note = uuid.uuid4().hex, folder / NOTE
    note.write_text(json.dumps({"mark": mark, "since": time.time()}), encoding="utf-8")
    try:
        yield {**environment, VARIABLE: mark}
    finally:
        note.unlink(missing_ok=True)


def end_left_running(folder: Path) -> None:
    """Kill what a program that is noted has started, and the program.

    :param folder: where the note is; who wrote it is gone, or asks for it.
    """
    try:
        note = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        mark, since = str(note["mark"]), float(note["since"])
    except (OSError, ValueError, KeyError, TypeError):
        return
    import psutil

    left = [p for p in psutil.process_iter() if _belongs(p, mark, since)]
    for process in left:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(left, timeout=_PATIENCE_SECONDS)


def _belongs(process: psutil.Process, mark: str, since: float) -> bool:
    """Whether a process is the program's: it bears the mark, and is not older."""
    import psutil

    try:
        if process.create_time() < since - _CLOCK_SECONDS:
            return False
        return process.environ().get(VARIABLE) == mark
    except (psutil.Error, OSError):
        return False  # another user's, or gone

"""When is a server ready, and when is it given up."""

from __future__ import annotations

import time
from collections.abc import Callable

from trtspec.build.progress import Progress
from trtspec.trtllm.pytorch.launch.address import Address, listens
from trtspec.trtllm.pytorch.launch.http_client import is_healthy, served_model
from trtspec.trtllm.pytorch.launch.log_reader import LogReader
from trtspec.trtllm.pytorch.launch.patience import Patience
from trtspec.trtllm.pytorch.launch.process import ServerProcess

_ANSWER_SECONDS = 5.0
_QUESTION_SECONDS = 1.0
"""A server that listens is asked so often: each question is a line of its log."""


class NotReady(Exception):  # noqa: N818 - its text is the end of a sentence
    """The server ended, or took too long: what it did, in words."""


def wait_until_ready(
    process: ServerProcess,
    reader: LogReader,
    address: Address,
    *,
    patience: Patience,
    pause: Callable[[], None],
    progress: Progress,
) -> str:
    """Wait for a server that was started; gives the name of its model.

    It is ready once GET /health gives 200 and GET /v1/models names a model.

    :param pause: waits a little; may raise to end the wait.
    :param progress: told what the log says of the start.
    :raises NotReady: if it ended, or took too long.
    """
    began, next_question = time.monotonic(), 0.0
    while True:
        if time.monotonic() >= next_question:
            healthy = is_healthy(address, _ANSWER_SECONDS)
            model = served_model(address, _ANSWER_SECONDS) if healthy else None
            if healthy is not None:
                next_question = time.monotonic() + _QUESTION_SECONDS
        else:
            model = None
        if reader.look():
            progress.status(f"trtllm-serve: {reader.status}")
        # another program may have taken the port: then ours is about to end
        if model and not process.ending and listens(process.family(), address.port):
            progress.status("")
            return model
        _require_progress(process, reader, patience, time.monotonic() - began)
        pause()


def _require_progress(
    process: ServerProcess, reader: LogReader, patience: Patience, seconds: float
) -> None:
    """Give a server up that ended, is late, or says nothing.

    :raises NotReady: saying which.
    """
    doing = f" while {reader.status}" if reader.status else ""
    if how := process.ending:
        raise NotReady(f"{how} before it was ready")
    if seconds > patience.start:
        limit = f"{patience.start:g} s (--start-timeout)"
        raise NotReady(f"was not ready within {limit}{doing}")
    if reader.silent_seconds > patience.stall:
        limit = f"{patience.stall:g} s (--stall-timeout)"
        raise NotReady(f"said nothing for {limit}{doing}")

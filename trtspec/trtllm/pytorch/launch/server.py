"""How one ``trtllm-serve`` comes up, is watched, and goes down."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from packaging.version import Version

from trtspec.build.progress import SILENT, Progress
from trtspec.errors import RunError
from trtspec.trtllm.pytorch.launch.address import Address, is_closing, require_free
from trtspec.trtllm.pytorch.launch.background import in_background
from trtspec.trtllm.pytorch.launch.canary import (
    MAX_TOKENS,
    Canary,
    Messages,
    run_canary,
)
from trtspec.trtllm.pytorch.launch.failures import server_failure
from trtspec.trtllm.pytorch.launch.log_reader import LogReader
from trtspec.trtllm.pytorch.launch.patience import USUAL_PATIENCE, Patience
from trtspec.trtllm.pytorch.launch.process import ServerProcess
from trtspec.trtllm.pytorch.launch.startup import NotReady, wait_until_ready
from trtspec.trtllm.pytorch.launch.stop_request import StopRequest

NAME = "trtllm-serve"
ResultT = TypeVar("ResultT")
_LOOK_SECONDS = 0.1
_LAST_BREATH_SECONDS = 2.0


class Stopped(Exception):  # noqa: N818 - not an error: somebody asked for it
    """The wait was ended by a request to stop."""


class Server:
    """One ``trtllm-serve``, from its start to its end; a context manager.

    Leaving the context ends it and all that it has started.

    :param command: as ``serve_command`` gives it.
    :param directory: the artifact.
    :param log: an existing file that its output is added to.
    :param folder: keeps the note of what runs; see ``state.server_folder``.
    :param variables: of its environment, over ours.
    :param stop: looked at in every wait.
    :ivar model: the name that clients ask for, once it is ready.
    """

    def __init__(
        self,
        command: tuple[str, ...],
        directory: Path,
        *,
        address: Address,
        version: Version,
        log: Path,
        folder: Path,
        variables: Mapping[str, str] | None = None,
        patience: Patience = USUAL_PATIENCE,
        stop: StopRequest | None = None,
        progress: Progress = SILENT,
    ) -> None:
        self.address = address
        self.log = log
        self.model = ""
        self._command, self._directory, self._folder = command, directory, folder
        self._version, self._patience, self._progress = version, patience, progress
        self._variables = variables
        self._stop = stop or StopRequest()
        self._process: ServerProcess | None = None

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    @property
    def url(self) -> str:
        """The base URL for clients on this machine."""
        return self.address.url

    @property
    def grace(self) -> float:
        """Seconds that requests in flight get to finish."""
        return self._patience.grace

    @property
    def hang(self) -> float:
        """Seconds without an answer after which it counts as dead; 0 for no limit."""
        return self._patience.hang

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._running.pid

    @property
    def _running(self) -> ServerProcess:
        assert self._process is not None, "start comes first"
        return self._process

    def start(self) -> None:
        """Start the server and wait until it answers.

        :raises UsageError: if the port is taken.
        :raises RunError: if it ends, or is not ready in time.
        :raises Stopped: if somebody asked for an end meanwhile.
        """
        require_free(self.address)
        self._wait_for_port()
        self._reader = LogReader(self.log)
        self._process = ServerProcess(
            self._command,
            directory=self._directory,
            log=self.log,
            folder=self._folder,
            variables=self._variables,
        )
        try:
            self.model = wait_until_ready(
                self._process,
                self._reader,
                self.address,
                patience=self._patience,
                pause=self._pause,
                progress=self._progress,
            )
        except NotReady as not_ready:
            raise self.failure(str(not_ready)) from None

    def canary(self, messages: Messages, max_tokens: int = MAX_TOKENS) -> Canary:
        """Send one greedy request and look at the text.

        :param max_tokens: most tokens to generate.
        :raises RunError: if it fails, or the server ends meanwhile.
        :raises Stopped: if somebody asked for an end meanwhile.
        """
        patience = self._patience.canary

        def ask() -> Canary:
            return run_canary(self.address, self.model, messages, patience, max_tokens)

        return self.meanwhile(ask, "in the canary")

    def meanwhile(self, work: Callable[[], ResultT], when: str) -> ResultT:
        """Do something that needs the server, and see that it still runs.

        :param when: what it is, for messages.
        :raises RunError: as the work does, or if the server ends meanwhile.
        :raises Stopped: if somebody asked for an end meanwhile.
        """
        result = in_background(work)
        while not result.done():
            self._require_running(when)
            self._pause()
        try:
            return result.result()
        except RunError:
            self._wait_for_last_breath()
            self._require_running(when)
            raise

    def failure(self, what: str) -> RunError:
        """Give the error for what happened to the server, with its last lines."""
        return server_failure(
            f"{NAME} {what}", self._reader.tail(), self.log, self._version
        )

    def ending(self) -> str:
        """How the server ended, in words; empty while it runs."""
        return self._running.ending

    def terminate(self) -> bool:
        """Ask the server to end and wait; whether it did within the grace."""
        asked = self._stop.times
        return self._running.terminate(
            self._patience.grace, lambda: self._stop.times > asked
        )

    def _wait_for_last_breath(self) -> None:
        """A server that dies closes its connections a moment before it is gone."""
        end = time.monotonic() + _LAST_BREATH_SECONDS
        while not self.ending() and time.monotonic() < end:
            self._pause()

    def _wait_for_port(self) -> None:
        told = False
        while is_closing(self.address):
            if not told:
                self._progress.line(
                    f"port {self.address.port} still closes the connections of an "
                    "earlier server; waiting, a minute at most"
                )
                told = True
            self._pause()

    def _require_running(self, when: str) -> None:
        if how := self.ending():
            raise self.failure(f"{how} {when}")

    def _pause(self) -> None:
        if self._stop.pause(_LOOK_SECONDS):
            raise Stopped

"""How the server's process is started, and ended with all that it has started."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from trtspec.build.command import die_with_us
from trtspec.build.left_running import end_left_running, noted
from trtspec.errors import RunError
from trtspec.trtllm.pytorch.launch.unstartable import unstartable

if TYPE_CHECKING:
    import psutil

_POLL_SECONDS = 0.05
_DEATH_SECONDS = 30.0
"""A process of many GPUs gives back its memory in seconds."""


def _never() -> bool:
    return False


class ServerProcess:
    """``trtllm-serve`` in a session of its own; nothing of it outlives ``close``.

    Start it in a thread that lives as long as the server: the kernel kills the server
    when that thread ends.

    :param folder: where a note is kept of what runs, for ``end_left_running``.
    :param variables: of its environment, over ours.
    :raises RunError: if it cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        directory: Path,
        log: Path,
        folder: Path,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = folder
        self._cleanup = ExitStack()
        given = {**os.environ, **(variables or {})}
        environment = self._cleanup.enter_context(noted(folder, given))
        try:
            with log.open("ab") as output:
                self._process = subprocess.Popen(  # noqa: S603 - no shell
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=environment,
                    cwd=directory,
                    start_new_session=True,
                    preexec_fn=die_with_us,  # noqa: PLW1509 - one system call
                )
        except OSError as error:
            self._cleanup.close()
            raise unstartable(command[0], error) from error

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._process.pid

    @property
    def ending(self) -> str:
        """How the server ended, in words; empty while it runs."""
        code = self._process.poll()
        if code is None:
            return ""
        if code >= 0:
            return f"ended with exit status {code}"
        why = ": the system may be out of memory" if code == -9 else ""
        return f"was ended by signal {-code}{why}"

    def terminate(self, grace: float, hurry: Callable[[], bool] = _never) -> bool:
        """Ask the server to end, and wait for it; whether it did so by itself.

        On SIGTERM it takes no more requests and finishes those in flight.

        :param grace: seconds to wait.
        :param hurry: asked now and then: whether to stop waiting.
        """
        with suppress(ProcessLookupError):
            self._process.terminate()
        end = time.monotonic() + grace
        while not self.ending and time.monotonic() < end and not hurry():
            time.sleep(_POLL_SECONDS)
        return bool(self.ending)

    def close(self) -> None:
        """Kill what still runs: the server, its children, and what bears its mark.

        :raises RunError: if the server outlives it, as a process does that is in a
            system call of a driver.
        """
        import psutil

        children = self._children()
        with suppress(ProcessLookupError):
            # a group is there for as long as any of its members
            os.killpg(self._process.pid, 9)
        stuck = self._outlives_its_death()
        for child in children:
            with suppress(psutil.Error):
                child.kill()
        # twice: a process could have started another while the first was looked for
        end_left_running(self._folder)
        end_left_running(self._folder)
        if stuck:
            # the note stays, so that the next start tries again
            raise RunError(
                f"process {self.pid} was killed and does not end: a system call of it "
                "hangs",
                action=f"see ps -o pid,stat,wchan {self.pid}, the kernel's log "
                "(dmesg) and nvidia-smi; a hung GPU or file system needs a restart",
            )
        self._cleanup.close()

    def family(self) -> set[int]:
        """Give the process ids of the server and of all that it has started."""
        return {self.pid, *(child.pid for child in self._children())}

    def _outlives_its_death(self) -> bool:
        """Wait for the killed server; whether it is there after all."""
        try:
            self._process.wait(_DEATH_SECONDS)
        except subprocess.TimeoutExpired:
            return True
        return False

    def _children(self) -> list[psutil.Process]:
        import psutil

        with suppress(psutil.Error):
            return psutil.Process(self.pid).children(recursive=True)
        return []

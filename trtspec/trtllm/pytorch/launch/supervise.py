"""What becomes of a server while clients use it: restarts, and an orderly end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from trtspec.build.progress import Progress
from trtspec.errors import RunError, TrtspecError, UsageError
from trtspec.trtllm.pytorch.launch.health import HealthWatch
from trtspec.trtllm.pytorch.launch.http_client import is_healthy
from trtspec.trtllm.pytorch.launch.server import NAME, Server, Stopped
from trtspec.trtllm.pytorch.launch.stop_request import StopRequest

_LOOK_SECONDS = 0.1
_LOOKS_PER_QUESTION = 100
_ANSWER_SECONDS = 5.0
WentDown = Callable[[TrtspecError, float], None]


def _nobody(failure: TrtspecError, wait: float) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Restarts:
    """How often a server that died is started again, and after how long.

    :param most: restarts in all.
    :param first_wait: seconds before the first; each later one waits twice as long.
    :param longest_wait: seconds that no wait exceeds.
    """

    most: int = 0
    first_wait: float = 1.0
    longest_wait: float = 60.0

    def wait(self, done: int) -> float:
        """Seconds to wait after ``done`` restarts, before the next."""
        return float(min(self.first_wait * 2**done, self.longest_wait))


def supervise(
    make: Callable[[], Server],
    came_up: Callable[[Server], None],
    restarts: Restarts,
    stop: StopRequest,
    progress: Progress,
    *,
    went_down: WentDown = _nobody,
) -> None:
    """Serve until somebody asks for an end, with nothing left running after it.

    If the first start fails, there is no other: it would fail the same way.

    :param make: gives a server that was not started yet.
    :param came_up: told of a server that is ready; a RunError of it, such as a failed
        canary, counts as a start that failed.
    :param went_down: told how a server failed: as soon as one that was ready is gone,
        and again when it is known in how many seconds the next one is started.
    :raises RunError: if the server failed and no restart is left.
    :raises UsageError: if the port is taken at the first start.
    """
    was_ready, done = False, 0
    failure: TrtspecError
    while True:
        try:
            with make() as server:
                _serve(server, came_up, stop, progress, went_down=went_down)
            return
        except _Died as died:
            was_ready, failure = True, died.failure
        except (RunError, UsageError) as error:
            if not was_ready:
                raise
            # a port that was taken meanwhile is no mistake of the command line
            failure = RunError.from_problems(error.problems)
        if done >= restarts.most:
            raise failure
        wait = restarts.wait(done)
        done += 1
        said = f"restart {done} of {restarts.most} in {wait:g} s"
        progress.line(f"{failure.problems[0].what}\n{said}")
        went_down(failure, wait)
        if stop.pause(wait):
            return


class _Died(Exception):  # noqa: N818 - turned into the error that it carries
    """A server that was ready is no more."""

    def __init__(self, failure: TrtspecError) -> None:
        super().__init__()
        self.failure = failure


def _serve(
    server: Server,
    came_up: Callable[[Server], None],
    stop: StopRequest,
    progress: Progress,
    *,
    went_down: WentDown,
) -> None:
    """Run one server to the end that somebody asks for.

    :raises RunError: if it does not come up.
    :raises _Died: if it was up, and died.
    """
    try:
        server.start()
        came_up(server)
        why = _watch(server, stop)
    except Stopped:
        why = ""
    if why:
        failure = server.failure(why)
        went_down(failure, 0.0)
        raise _Died(failure)
    progress.line(f"stopping {NAME}; requests in flight get {server.grace:g} s")
    asked = stop.times
    if not server.terminate():
        again = stop.times > asked
        why = "asked to by another signal" if again else "it did not end in time"
        progress.line(f"{NAME} is killed, with what it started: {why}")


def _watch(server: Server, stop: StopRequest) -> str:
    """Wait for a reason to end; gives how the server died, or nothing if asked to."""
    looks, watch = 0, HealthWatch(server.hang, time.monotonic())
    while not stop.pause(_LOOK_SECONDS):
        if how := server.ending():
            # a signal to the whole container reaches the server as well
            return "" if stop.pause(_LOOK_SECONDS) else how
        looks += 1
        if looks % _LOOKS_PER_QUESTION:
            continue
        healthy = is_healthy(server.address, _ANSWER_SECONDS)
        if fault := watch.fault(healthy, time.monotonic()):
            return fault
    return ""

"""A server of a toy model on a real port, for tests; and what else they need."""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass, field

import httpx

from tests.serve.replies import events
from trtspec.reference.runner import ReferenceRunner
from trtspec.serve.http.api_key import ApiKeys
from trtspec.serve.http.request_log import RequestLog
from trtspec.serve.http.server import listen
from trtspec.serve.in_process import Course, serve
from trtspec.serve.limits import ServeLimits
from trtspec.serve.metrics import Identity
from trtspec.serve.service import Service

__all__ = ["events", "runner_of", "served", "service_for", "until"]
MODEL = "toy"
IDENTITY = Identity("0", "reference", "none", "toy", "f" * 64, "")
PATIENCE = 30.0


@dataclass
class Served:
    """A server that runs.

    :ivar lines: of the request log.
    :ivar said: to people.
    """

    url: str
    service: Service
    lines: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    stops: int = 0
    error: BaseException | None = None
    thread: threading.Thread | None = None

    def client(self, **options) -> httpx.Client:
        return httpx.Client(
            base_url=self.url, timeout=PATIENCE, verify=False, **options
        )

    def end(self) -> None:
        """Ask for an end, as a signal does, and wait for it."""
        self.stops += 1
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()


def service_for(runner, recipe, *, limits=None, keys=(), lines=None, prompts=False):
    write = None if lines is None else lines.append
    return Service(
        MODEL,
        recipe,
        IDENTITY,
        runner.codec,
        runner,
        limits=limits or ServeLimits(),
        keys=ApiKeys(keys),
        log=RequestLog(write, with_prompts=prompts),
    )


@contextlib.contextmanager
def served(runner, recipe, *, check=None, grace=20.0, wait=True, **options):
    """Serve a runner, which is closed at the end, on a free port."""
    lines: list[str] = []
    service = service_for(runner, recipe, lines=lines, **options)
    taken = listen("127.0.0.1", 0)
    url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    server = Served(url, service, lines)
    up = threading.Event()
    course = Course(
        check=check or (lambda: None),
        came_up=up.set,
        stops=lambda: server.stops,
        say=server.said.append,
        grace=grace,
    )

    def run() -> None:
        try:
            serve(service, taken, course)
        except BaseException as error:  # noqa: BLE001 - told to the test
            server.error = error
        finally:
            up.set()

    server.thread = threading.Thread(target=run, daemon=True)
    server.thread.start()
    try:
        if wait:
            assert up.wait(PATIENCE)
        yield server
    finally:
        if server.thread.is_alive():
            server.end()


def runner_of(recipe, target, draft=None):
    """Load a toy artifact's models."""
    return ReferenceRunner(recipe, target, draft)


def until(condition, seconds=PATIENCE):
    """Wait for something to become so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not become so"
        time.sleep(0.005)

"""A runner whose steps are scripted, and what it was told, in order."""

from __future__ import annotations

import threading
import time

from trtspec.errors import UsageError
from trtspec.run import Chunk, Completion, Request, StepResult


class FakeRunner:
    """Emits a token per step for each request until its length is reached.

    :ivar told: what it was called with: ("submit", id), ("cancel", id), ("step",), ...
    :ivar failures: what the next steps raise, one each; None for nothing.
    :ivar refuses: ids that ``submit`` refuses, with what.
    :ivar gate: set to let steps happen.
    :ivar seconds: that a step takes.
    """

    def __init__(self) -> None:
        self.told: list[tuple[str, ...]] = []
        self.failures: list[Exception | None] = []
        self.refuses: dict[str, Exception] = {}
        self.gate = threading.Event()
        self.gate.set()
        self.at_gate = threading.Event()
        self.closed = threading.Event()
        self.seconds = 0.0
        self.threads: set[int] = set()
        self._inside: dict[str, list[int]] = {}
        self._wanted: dict[str, int] = {}
        self._cancelled: set[str] = set()

    @property
    def busy(self) -> bool:
        return bool(self._inside)

    def submit(self, request: Request) -> None:
        self._note("submit", request.id)
        if request.id in self.refuses:
            raise self.refuses[request.id]
        if not request.prompt:
            raise UsageError("the prompt has no tokens")
        self._inside[request.id] = []
        self._wanted[request.id] = request.max_new_tokens

    def cancel(self, request_id: str) -> None:
        self._note("cancel", request_id)
        if request_id in self._inside:
            self._cancelled.add(request_id)

    def advance(self) -> StepResult:
        self.at_gate.set()
        self.gate.wait(20)
        time.sleep(self.seconds)
        self._note("step")
        error = self.failures.pop(0) if self.failures else None
        if error is not None:
            self._inside.clear()
            raise error
        return StepResult(tuple(map(self._next, tuple(self._inside))))

    def close(self) -> None:
        self._note("close")
        self.closed.set()

    def _next(self, name: str) -> Chunk:
        now = time.perf_counter()
        tokens = self._inside[name]
        if name in self._cancelled:
            self._cancelled.discard(name)
            return self._end(name, (), "cancelled")
        tokens.append(len(tokens))
        if len(tokens) == self._wanted[name]:
            return self._end(name, (tokens[-1],), "length")
        return Chunk(name, (tokens[-1],), f"{tokens[-1]} ", now)

    def _end(self, name: str, tokens, finish: str) -> Chunk:
        now = time.perf_counter()
        all_tokens = self._inside.pop(name)
        done = Completion(name, 1, all_tokens, "", finish, now, now, now, now)
        return Chunk(name, tokens, "end", now, done)

    def _note(self, *what: str) -> None:
        self.told.append(what)
        self.threads.add(threading.get_ident())


def asked(name: str, tokens: int = 3, prompt=(1,)) -> Request:
    return Request(name, tuple(prompt), tokens)

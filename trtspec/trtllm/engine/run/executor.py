"""One loaded engine: how requests are sent to it, and how its answers come back.

Answers arrive in any order, for any request; they are
sorted into one box per request, so that rounds and streams can share an engine.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from trtspec.errors import RunError
from trtspec.trtllm.engine.run.answers import Answer, joined, read_answer
from trtspec.trtllm.engine.run.bindings import Bindings
from trtspec.trtllm.engine.run.messages import run_error

POLL_SECONDS = 0.5
"""Longest wait for an answer before looking whether the engine is still there."""
SILENCE_SECONDS = 600.0
"""An engine that owes answers and gives none for so long is taken for dead."""
DRAIN_SECONDS = 10.0
"""So long a cancelled request may take to say that it has ended."""


class Executor:
    """One engine, loaded."""

    def __init__(
        self, bindings: Bindings, directory: Path, config: Any, role: str
    ) -> None:
        """Load an engine.

        :param role: what the engine is, for messages: "target engine".
        :raises RunError: if the runtime refuses it.
        """
        self._version = bindings.version
        self.role = role
        self._answers: dict[int, list[Answer]] = {}
        self._cancelled: dict[int, float] = {}
        self._heard_at = time.perf_counter()
        self._executor: Any = None
        decoder_only = bindings.module.ModelType.DECODER_ONLY
        try:
            self._executor = bindings.module.Executor(directory, decoder_only, config)
        except Exception as error:  # the bindings raise whatever C++ threw
            raise run_error(str(error), str(directory), self._version) from error

    def enqueue(self, requests: Sequence[Any]) -> list[int]:
        """Send requests, all at once so that they share an iteration.

        :raises RunError: if the executor takes no requests.
        """
        try:
            ids: list[int] = list(self._open.enqueue_requests(list(requests)))
        except Exception as error:  # see above
            raise self._failed(error) from error
        self._answers |= {request: [] for request in ids}
        self._heard_at = time.perf_counter()
        return ids

    def poll(self, seconds: float) -> None:
        """Wait up to ``seconds`` for answers and sort those that came.

        :raises RunError: if the executor has died.
        """
        try:
            responses = self._open.await_responses(timeout=timedelta(seconds=seconds))
        except Exception as error:  # see above
            raise self._failed(error) from error
        now = time.perf_counter()
        for response in responses:
            self._heard_at = now
            self._sort(response)
        self._forget_the_silent(now)
        if not responses:
            self._require_alive(now)

    def collect(self, request: int) -> list[Answer]:
        """Take the answers that have come for a request."""
        answers = self._answers[request]
        if answers and answers[-1].final:
            del self._answers[request]
        else:
            self._answers[request] = []
        return answers

    def finish(self, requests: Iterable[int]) -> list[Answer]:
        """Wait for the last answer of each request; each gets all of its tokens."""
        parts: list[list[Answer]] = []
        for request in requests:
            taken = self.collect(request)
            while not (taken and taken[-1].final):
                self.poll(POLL_SECONDS)
                taken += self.collect(request)
            parts.append(taken)
        return [joined(part) for part in parts]

    def cancel(self, request: int) -> None:
        """End a request; what it still says is thrown away."""
        answers = self._answers.pop(request, None)
        if answers is not None and not (answers and answers[-1].final):
            self._cancelled[request] = time.perf_counter()
            self.stop(request)

    def stop(self, request: int) -> None:
        """End a request early; its last answer is still to come."""
        try:
            self._open.cancel_request(request)
        except Exception as error:  # see above
            raise self._failed(error) from error

    @property
    def is_draining(self) -> bool:
        """Whether a cancelled request still occupies the engine."""
        return bool(self._cancelled)

    def shutdown(self) -> None:
        """Free the engine; a second call does nothing."""
        executor, self._executor = self._executor, None
        self._answers.clear()
        self._cancelled.clear()
        if executor is not None:
            executor.shutdown()

    @property
    def _open(self) -> Any:
        if self._executor is None:
            raise RuntimeError("the engine was closed")
        return self._executor

    def _sort(self, response: Any) -> None:
        answer = read_answer(response)
        request = response.request_id
        if request in self._answers:
            self._answers[request].append(answer)
        elif answer.final:
            self._cancelled.pop(request, None)

    def _forget_the_silent(self, now: float) -> None:
        since = now - DRAIN_SECONDS
        self._cancelled = {r: at for r, at in self._cancelled.items() if at > since}

    def _require_alive(self, now: float) -> None:
        if not self._open.can_enqueue_requests():
            raise RunError("takes no requests any more", where=self.role)
        if self._answers and now - self._heard_at > SILENCE_SECONDS:
            raise RunError(
                f"has not answered for {SILENCE_SECONDS:.0f} s",
                where=self.role,
                action="look at the GPUs and at TensorRT-LLM's own output",
            )

    def _failed(self, error: Exception) -> RunError:
        return run_error(str(error), self.role, self._version)

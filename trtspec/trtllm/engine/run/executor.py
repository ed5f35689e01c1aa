"""One loaded engine: how requests are sent to it, and how its answers come back.

Answers arrive in any order, for any request; they are stamped with the time at which
they came and sorted into one box per request, so that rounds and streams can share an
engine and go by one clock. An engine that has died is asked nothing any more, and
nothing of it is waited for.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from trtspec.errors import RunError
from trtspec.trtllm.engine.run.bindings import (
    Answer,
    Bindings,
    joined,
    read_answer,
    run_error,
)

POLL_SECONDS = 0.5
"""Longest wait for an answer before looking whether the engine is still there."""
SILENCE_SECONDS = 600.0
"""An engine that says nothing of a request for so long is taken for dead."""
DRAIN_SECONDS = 10.0
"""So long a cancelled request may take to say that it has ended."""


class Executor:
    """One engine, loaded."""

    def __init__(
        self, bindings: Bindings, directory: Path, config: Any, name: str
    ) -> None:
        """Load an engine.

        :param name: what the engine is, for messages: "target engine".
        :raises RunError: if the runtime refuses it.
        """
        self._version = bindings.version
        self.name = name
        self._answers: dict[int, list[Answer]] = {}
        self._heard_at: dict[int, float] = {}
        self._discarded_at: dict[int, float] = {}
        self._death: RunError | None = None
        self._executor: Any = None
        decoder_only = bindings.module.ModelType.DECODER_ONLY
        try:
            self._executor = bindings.module.Executor(directory, decoder_only, config)
        except Exception as error:  # the bindings raise whatever C++ threw
            raise run_error(str(error), str(directory), self._version) from error

    def require_life(self) -> None:
        """Refuse to go on with a dead engine.

        :raises RunError: what it died of.
        """
        if self._death is not None:
            raise RunError.from_problems(self._death.problems)
        if self._executor is None:
            raise RunError("the engine was closed", where=self.name)

    def enqueue(self, requests: Sequence[Any]) -> list[int]:
        """Send requests, all at once so that they share an iteration.

        :raises RunError: if the executor does not take them.
        """
        self.require_life()
        try:
            ids: list[int] = list(self._executor.enqueue_requests(list(requests)))
        except Exception as error:  # see above
            failed = self._failed(error)
            raise (failed if self._takes_requests() else self._die(failed)) from error
        now = time.perf_counter()
        self._answers |= {request: [] for request in ids}
        self._heard_at |= dict.fromkeys(ids, now)
        return ids

    def poll(self, seconds: float) -> None:
        """Wait up to ``seconds`` for answers and sort those that came.

        :raises RunError: if the executor has died.
        """
        self.require_life()
        wait = timedelta(seconds=seconds)
        try:
            responses = self._executor.await_responses(timeout=wait)
        except Exception as error:  # see above
            raise self._die(self._failed(error)) from error
        now = time.perf_counter()
        for response in responses:
            self._sort(response.request_id, read_answer(response, now))
        since = now - DRAIN_SECONDS
        self._discarded_at = {r: t for r, t in self._discarded_at.items() if t > since}
        if not responses and not self._takes_requests():
            raise self._die(RunError("takes no requests any more", where=self.name))
        self._require_voice(now)

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

    def end_early(self, request: int) -> None:
        """Tell the engine to end a request; its last answer is still to come.

        :raises RunError: if the executor has died of it.
        """
        if self._death is not None:
            return
        try:
            self._executor.cancel_request(request)
        except Exception as error:  # see above
            raise self._die(self._failed(error)) from error

    def discard(self, request: int) -> None:
        """End a request; what it still says is thrown away."""
        self._heard_at.pop(request, None)
        answers = self._answers.pop(request, None)
        if answers is not None and not (answers and answers[-1].final):
            self._discarded_at[request] = time.perf_counter()
            self.end_early(request)

    def discard_all(self) -> None:
        """End every request and wait until the engine has let go of all.

        Whoever calls has an error already, which counts: this one raises none.
        """
        with suppress(RunError):
            for request in list(self._answers):
                self.discard(request)
            while self._discarded_at:
                self.poll(POLL_SECONDS)

    @property
    def is_draining(self) -> bool:
        """Whether a discarded request still occupies the engine."""
        return bool(self._discarded_at)

    def shutdown(self) -> None:
        """Free the engine; a second call does nothing."""
        executor, self._executor = self._executor, None
        self._forget()
        if executor is not None:
            executor.shutdown()

    def _sort(self, request: int, answer: Answer) -> None:
        if request in self._answers:
            self._answers[request].append(answer)
            self._heard_at[request] = answer.time
        if answer.final:
            self._heard_at.pop(request, None)
            self._discarded_at.pop(request, None)

    def _require_voice(self, now: float) -> None:
        """Take an engine for dead that owes an answer for too long."""
        owed = [r for r, at in self._heard_at.items() if now - at > SILENCE_SECONDS]
        if not owed:
            return
        silent = RunError(
            f"has not answered {len(owed)} of {len(self._answers)} requests for "
            f"{SILENCE_SECONDS:.0f} s",
            where=self.name,
            action="look at the GPUs and at TensorRT-LLM's own output",
        )
        raise self._die(silent)

    def _takes_requests(self) -> bool:
        with suppress(Exception):  # see above
            return bool(self._executor.can_enqueue_requests())
        return False

    def _die(self, error: RunError) -> RunError:
        self._death = error
        self._forget()
        return error

    def _forget(self) -> None:
        self._answers.clear()
        self._heard_at.clear()
        self._discarded_at.clear()

    def _failed(self, error: Exception) -> RunError:
        return run_error(str(error), self.name, self._version)

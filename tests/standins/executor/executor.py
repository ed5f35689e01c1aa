"""The Executor: takes requests, works inside ``await_responses``, without threads."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

from packaging.version import Version

from tests.standins import failing
from tests.standins.executor.active import Active
from tests.standins.executor.admission import (
    RequestError,
    admit,
    require_accepted,
    require_known,
)
from tests.standins.executor.engine import SLOTS, open_engine
from tests.standins.executor.plans import speculation
from tests.standins.executor.records import ExecutorRecord, RequestRecord
from tests.standins.executor.responses import Response, Result
from tests.standins.executor.setup import (
    is_orchestrator,
    require_processes,
    require_sizes,
)
from tests.standins.executor.values import AssertionFailedError, require
from tests.standins.executor.words import ModelType
from tests.standins.machine import Machine


def make_executor(
    version: str,
    machine: Machine,
    classes: Mapping[str, type],
    records: list[ExecutorRecord],
) -> type:
    """The Executor class of one installation."""
    content = {
        "_version": version,
        "_machine": machine,
        "_classes": classes,
        "_records": records,
        "_living": weakref.WeakSet(),
    }
    return type("Executor", (_Executor,), content)


class _Executor:
    _version: str
    _machine: Machine
    _classes: Mapping[str, type]
    _records: list[ExecutorRecord]
    _living: weakref.WeakSet[_Executor]

    def __init__(
        self, model_path: Path | str, model_type: ModelType, executor_config: Any
    ) -> None:
        if not isinstance(executor_config, self._classes["ExecutorConfig"]):
            raise TypeError("executor_config must be an ExecutorConfig")
        require(model_type is ModelType.DECODER_ONLY, f"{model_type} is not modelled")
        self._fail_if_asked()
        self._config = config = executor_config
        self._engine = engine = open_engine(
            Path(model_path), self._version, self._machine
        )
        require_processes(config, engine, self._machine)
        self._require_alone()
        require_sizes(config, engine, self._machine)
        self._plan = speculation(config, engine, self._version)
        self._ids = count(1)
        self._waiting: deque[RequestRecord] = deque()
        self._running: list[Active] = []
        self._ready: dict[int, list[Response]] = {}
        self._known: set[int] = set()
        self._record = ExecutorRecord(
            Path(model_path), engine.mode, config, self._plan.paths
        )
        self._records.append(self._record)
        self._living.add(self)

    def _fail_if_asked(self) -> None:
        self._machine.record("executor", "run", [])
        if name := failing.wanted(self._machine, "executor", "run"):
            raise AssertionFailedError(failing.message(name))

    def _require_alone(self) -> None:
        """Two models in one process need others to run them."""
        everyone = [self, *self._living]
        require(
            len(everyone) == 1 or all(is_orchestrator(one._config) for one in everyone),
            "two executors in one process need orchestrator mode",
        )

    def __enter__(self) -> _Executor:
        return self

    def __exit__(self, *raised: object) -> None:
        self.shutdown()

    def shutdown(self) -> None:
        self._living.discard(self)
        self._record.is_shut_down = True
        self._waiting.clear()
        self._running.clear()

    def can_enqueue_requests(self) -> bool:
        return not self._record.is_shut_down

    def enqueue_request(self, request: Any) -> int:
        if not isinstance(request, self._classes["Request"]):
            raise TypeError("enqueue_request(): request must be a Request")
        require(self.can_enqueue_requests(), "the executor is shut down")
        require_accepted(request, self._plan, self._engine)
        prompt = tuple(request.input_token_ids)
        record = RequestRecord(next(self._ids), prompt, request.max_tokens, request)
        self._record.requests.append(record)
        self._waiting.append(record)
        self._known.add(record.id)
        return record.id

    def enqueue_requests(self, requests: Sequence[Any]) -> list[int]:
        return [self.enqueue_request(request) for request in requests]

    def cancel_request(self, id: int) -> None:  # noqa: A002
        """End a request at the next step; a finished one is left alone."""
        for active in self._running:
            active.is_cancelled |= active.record.id == id
        for record in [r for r in self._waiting if r.id == id]:
            self._waiting.remove(record)
            cancelled = Active(record, self._engine, self._plan)
            cancelled.is_cancelled = True
            self._answer(cancelled)

    def get_num_responses_ready(self, id: int | None = None) -> int:  # noqa: A002
        found = self._ready.items()
        return sum(len(ready) for one, ready in found if id in (None, one))

    def get_latest_iteration_stats(self) -> list[Any]:
        return []

    def get_latest_request_stats(self) -> list[Any]:
        return []

    def await_responses(self, *arguments: Any, **named: Any) -> list[Any]:
        """``(timeout)``, ``(id, timeout)`` or ``(ids, timeout)``.

        With a timeout exactly one step is done, so that a caller that polls gets its
        turn; without one, steps are done until there is something to give.
        """
        wanted, timeout = _overload(arguments, named)
        ids = [wanted] if isinstance(wanted, int) else wanted
        if ids is not None:
            require_known(ids, self._known)
        while not self._is_satisfied(ids):
            require(self._is_busy or timeout is not None, "would wait for ever")
            self._advance()
            if timeout is not None:
                break
        if ids is None:
            return [r for one in list(self._ready) for r in self._take(one)]
        taken = [self._take(one) for one in ids]
        return taken[0] if isinstance(wanted, int) else taken

    def _is_satisfied(self, ids: list[int] | None) -> bool:
        if ids is None:
            return bool(self._ready)
        return all(one in self._ready for one in ids)

    def _take(self, one: int) -> list[Response]:
        responses = self._ready.pop(one, [])
        if any(r.has_error() or r.result.is_final for r in responses):
            self._known.discard(one)
        return responses

    @property
    def _is_busy(self) -> bool:
        return bool(self._waiting or self._running)

    def _advance(self) -> None:
        """Let requests join, then do one step with each that runs."""
        require(self.can_enqueue_requests(), "the executor is shut down")
        self._join()
        for active in list(self._running):
            self._answer(active)
            if active.is_over:
                self._running.remove(active)

    def _join(self) -> None:
        built = int(self._engine.build["max_batch_size"])
        most = min(self._config.max_batch_size or built, SLOTS)
        while self._waiting and len(self._running) < most:
            record = self._waiting.popleft()
            try:
                admit(record, self._engine, self._gathers_logits, self._beams)
            except RequestError as error:
                record.error = str(error)
                self._put(record.id, str(error))
            else:
                self._running.append(Active(record, self._engine, self._plan))

    @property
    def _gathers_logits(self) -> bool:
        built = self._engine.build["gather_generation_logits"]
        return bool(built or getattr(self._config, "gather_generation_logits", False))

    @property
    def _beams(self) -> int:
        return int(self._config.max_beam_width)

    def _answer(self, active: Active) -> None:
        result = active.step()
        if result is not None:
            self._put(active.record.id, result)

    def _put(self, one: int, outcome: Result | str) -> None:
        self._ready.setdefault(one, []).append(
            Response(one, outcome, Version(self._version))
        )


def _overload(arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, Any]:
    """Tell the three forms apart: which requests, and how long to wait."""
    if unknown := set(named) - {"timeout", "id", "ids"}:
        raise TypeError(f"await_responses(): unexpected {sorted(unknown)[0]}")
    rest = list(arguments)
    wanted = named.get("id", named.get("ids"))
    if rest and wanted is None and isinstance(rest[0], int | list):
        wanted = rest.pop(0)
    timeout = rest.pop(0) if rest else named.get("timeout")
    if rest or not (timeout is None or isinstance(timeout, timedelta | float)):
        raise TypeError(f"await_responses(): timeout is {timeout!r}, not a timedelta")
    return wanted, timeout

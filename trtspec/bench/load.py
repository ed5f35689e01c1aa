"""How requests are sent: a closed loop that keeps a number of them in flight."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from trtspec.errors import RunError, TrtspecError
from trtspec.run import Completion, Request, Runner, StepRecord, StepResult

Clock = Callable[[], float]

ENGINE_FAILURES = (TrtspecError, RuntimeError, MemoryError)
"""What an engine raises when it fails; torch reports out of memory as RuntimeError."""


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What one pass over the requests brought.

    :param completions: one per request, in the order of the requests.
    :param records: every engine step, in order.
    :param started_at: clock seconds just before the first submission.
    :param ended_at: clock seconds when the last completion was there.
    """

    completions: tuple[Completion, ...]
    records: tuple[StepRecord, ...]
    started_at: float
    ended_at: float

    @property
    def wall_seconds(self) -> float:
        """Seconds from the first submission to the last completion."""
        return self.ended_at - self.started_at


def closed_loop(
    runner: Runner,
    requests: Sequence[Request],
    concurrency: int,
    *,
    clock: Clock = time.perf_counter,
    on_completion: Callable[[], None] = lambda: None,
) -> LoadResult:
    """Run all requests, submitting the next one when one finishes.

    Requests are submitted in the given order. If one fails, the others are cancelled,
    so that the runner can be used again.

    :param concurrency: requests kept in flight while there are any left.
    :param clock: the clock of the completions' times.
    :param on_completion: called after each finished request.
    :raises RunError: naming the request that failed, was cancelled, emitted nothing,
        was lost by the runner, or drafted although it asked for no speculation.
    """
    if runner.busy:
        raise RunError("the engine is still busy with earlier requests")
    waiting = deque(requests)
    in_flight: dict[str, Request] = {}
    done: dict[str, Completion] = {}
    records: list[StepRecord] = []
    started_at = clock()
    try:
        while waiting or in_flight:
            while waiting and len(in_flight) < concurrency:
                _submit(runner, waiting.popleft(), in_flight)
            result = _advance(runner, in_flight)
            records.extend(result.records)
            for completion in _completions(result):
                request = in_flight.pop(completion.request_id)
                done[request.id] = _checked(completion, request)
                on_completion()
    except Exception:
        _abandon(runner, in_flight)
        raise
    ended_at = clock()
    ordered = tuple(done[request.id] for request in requests)
    return LoadResult(ordered, tuple(records), started_at, ended_at)


def _submit(runner: Runner, request: Request, in_flight: dict[str, Request]) -> None:
    try:
        runner.submit(request)
    except ENGINE_FAILURES as error:
        raise RunError(f"was refused: {error}", where=_where(request.id)) from error
    in_flight[request.id] = request


def _advance(runner: Runner, in_flight: dict[str, Request]) -> StepResult:
    try:
        result = runner.advance()
    except ENGINE_FAILURES as error:
        reason = str(error) or type(error).__name__
        raise RunError(
            f"the engine failed: {reason}", where=_where(*in_flight)
        ) from error
    if not (runner.busy or _completions(result)):
        raise RunError(
            "was lost: the engine has nothing to do", where=_where(*in_flight)
        )
    return result


def _where(*request_ids: str) -> str:
    return f"request {', '.join(request_ids)}"


def _completions(result: StepResult) -> list[Completion]:
    return [chunk.completion for chunk in result.chunks if chunk.completion]


def _checked(completion: Completion, request: Request) -> Completion:
    where = _where(request.id)
    if completion.finish_reason == "cancelled":
        raise RunError("was cancelled before it finished", where=where)
    if not completion.tokens:
        raise RunError(
            "emitted no token, so it has no latency",
            where=where,
            action="take this prompt out of the prompts file",
        )
    if completion.drafted and not request.speculate:
        raise RunError(
            f"drafted {completion.drafted} tokens with speculation off", where=where
        )
    return completion


def _abandon(runner: Runner, in_flight: dict[str, Request]) -> None:
    # a broken engine may fail again here; the first failure is the one to report
    with suppress(*ENGINE_FAILURES):
        for request_id in in_flight:
            runner.cancel(request_id)
        while runner.busy:
            runner.advance()

"""How requests are sent to an engine in this process."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from trtspec.bench.arrivals import due_times
from trtspec.bench.driver import Call
from trtspec.bench.outcome import Failed, Outcome, Pass
from trtspec.bench.records import Load
from trtspec.errors import RunError, TrtspecError
from trtspec.run import (
    Completion,
    DraftStep,
    Request,
    Runner,
    StepRecord,
    StepResult,
)

Clock = Callable[[], float]
Sleep = Callable[[float], None]

ENGINE_FAILURES = (TrtspecError, RuntimeError, MemoryError)
"""What an engine raises when it fails; torch reports out of memory as RuntimeError."""


class InProcess:
    """Drives one runner; a ``Driver``.

    :param clock: the clock of the completions' times.
    :param sleep: how to wait for the next arrival of an open loop.
    """

    def __init__(
        self,
        runner: Runner,
        *,
        clock: Clock = time.perf_counter,
        sleep: Sleep = time.sleep,
    ) -> None:
        self.runner = runner
        self._clock = clock
        self._sleep = sleep

    @property
    def caches_prompts(self) -> bool:
        """Whether a prompt that ran before is found in the KV cache."""
        return self.runner.caches_prompts

    def conditions(self) -> dict[str, JsonValue]:
        """Give what the engine says of itself, as JSON values."""
        plain: Any = json.loads(json.dumps(self.runner.conditions(), default=str))
        return {str(key): value for key, value in plain.items()}

    def run(
        self,
        calls: Sequence[Call],
        load: Load,
        *,
        seed: int = 0,
        on_answer: Callable[[], None] = lambda: None,
    ) -> Pass:
        """Send all calls in their order; see ``Driver``.

        An engine that fails takes all requests with it, so the first failure ends the
        pass: what has not been answered by then is failed.

        :raises RunError: if the engine is busy with something else.
        """
        if self.runner.busy:
            raise RunError("the engine is still busy with earlier requests")
        sending = _Sending(calls, load, seed, self._clock())
        try:
            while sending.unfinished:
                self._submit_due(sending)
                if sending.in_flight:
                    self._advance(sending, on_answer)
                elif sending.waiting:
                    self._sleep(max(0.0, sending.next_due - self._clock()))
        except _EngineFailedError as error:
            sending.fail_rest(str(error))
            self._abandon(sending)
        except BaseException:
            self._abandon(sending)
            raise
        return sending.result(self._clock())

    def _submit_due(self, sending: _Sending) -> None:
        while sending.may_send(self._clock()):
            call, due = sending.take()
            request = request_of(call)
            try:
                self.runner.submit(request)
            except ENGINE_FAILURES as error:
                sending.outcomes[call.id] = Failed(call.id, f"was refused: {error}")
                continue
            sending.in_flight[call.id] = (call, due)

    def _advance(self, sending: _Sending, on_answer: Callable[[], None]) -> None:
        try:
            result = self.runner.advance()
        except ENGINE_FAILURES as error:
            reason = str(error) or type(error).__name__
            raise _EngineFailedError(f"the engine failed: {reason}") from error
        completions = sending.note(result)
        if not (self.runner.busy or completions):
            raise _EngineFailedError("was lost: the engine has nothing to do")
        for completion in completions:
            call, due = sending.in_flight.pop(completion.request_id)
            sending.outcomes[call.id] = _outcome(sending, completion, call, due)
            on_answer()

    def _abandon(self, sending: _Sending) -> None:
        """Let the runner forget what is in flight, so that it can be used again."""
        with suppress(*ENGINE_FAILURES):
            for request_id in sending.in_flight:
                self.runner.cancel(request_id)
            while self.runner.busy:
                self.runner.advance()


def request_of(call: Call) -> Request:
    """Put a call into the words of a runner."""
    if call.prompt.tokens is None:
        raise RunError("the prompt has no token ids", where=f"prompt {call.prompt.id}")
    return Request(
        id=call.id,
        prompt=call.prompt.tokens,
        max_new_tokens=call.output_tokens,
        sampling=call.sampling,
        ignore_eos=call.ignore_end,
        speculate=call.speculate,
        speculation=call.speculation,
    )


class _EngineFailedError(Exception):
    """Nothing more will come from the engine."""


@dataclass
class _Sending:
    """What of a pass is sent, in flight and answered."""

    calls: Sequence[Call]
    load: Load
    seed: int
    started_at: float
    in_flight: dict[str, tuple[Call, float | None]] = field(default_factory=dict)
    outcomes: dict[str, Outcome | Failed] = field(default_factory=dict)
    records: list[StepRecord] = field(default_factory=list)
    chunks: dict[str, list[tuple[float, int | None]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.waiting = deque(self.calls)
        self._due = deque(due_times(self.load, len(self.calls), self.seed) or ())

    @property
    def unfinished(self) -> bool:
        return bool(self.waiting or self.in_flight)

    @property
    def next_due(self) -> float:
        """Clock seconds at which an open loop's next request is due."""
        return self.started_at + self._due[0]

    def may_send(self, now: float) -> bool:
        """Whether the next request is to be sent now."""
        if not self.waiting:
            return False
        if self.load.concurrency is not None:
            return len(self.in_flight) < self.load.concurrency
        return self.next_due <= now

    def take(self) -> tuple[Call, float | None]:
        """Take the next call, and when it was due; None in a closed loop: now."""
        due = self.started_at + self._due.popleft() if self._due else None
        return self.waiting.popleft(), due

    def note(self, result: StepResult) -> list[Completion]:
        """Keep a step's records and chunk times; give what ended."""
        self.records.extend(result.records)
        for chunk in result.chunks:
            if chunk.tokens:
                seen = self.chunks.setdefault(chunk.request_id, [])
                seen.append((chunk.time, len(chunk.tokens)))
        return [c.completion for c in result.chunks if c.completion is not None]

    def fail_rest(self, what: str) -> None:
        """Say of all that is not answered that it failed."""
        for call in self.calls:
            self.outcomes.setdefault(call.id, Failed(call.id, what))

    def result(self, ended_at: float) -> Pass:
        outcomes = tuple(self.outcomes[call.id] for call in self.calls)
        return Pass(outcomes, tuple(self.records), self.started_at, ended_at)


def _outcome(
    sending: _Sending, completion: Completion, call: Call, due: float | None
) -> Outcome | Failed:
    chunks = tuple(sending.chunks.pop(call.id, ()))
    if fault := _fault(completion, call):
        return Failed(call.id, fault)
    # a runner that streams text only: first and last token are all it says
    ends = ((completion.first_token_at, None), (completion.last_token_at, None))
    sent = completion.submitted_at
    return Outcome(
        request_id=call.id,
        due_at=sent if due is None else due,
        sent_at=sent,
        chunks=chunks or ends,
        prompt_tokens=completion.prompt_tokens,
        output_tokens=len(completion.tokens),
        finish_reason=completion.finish_reason,
        text=completion.text,
        tokens=tuple(completion.tokens),
        steps=completion.steps,
        drafted=completion.drafted,
        accepted=completion.accepted,
        draft_steps=_draft_steps(completion),
        lossy=completion.lossy,
    )


def _draft_steps(completion: Completion) -> tuple[DraftStep, ...] | None:
    """Give every verification step; None if the engine only told their sums."""
    if completion.draft_steps is None:
        return None if completion.steps else ()
    return tuple(completion.draft_steps)


def _fault(completion: Completion, call: Call) -> str:
    """Say why a completion cannot be counted; empty if it can."""
    if completion.finish_reason == "cancelled":
        return "was cancelled"
    if not completion.tokens:
        return "emitted no token"
    if not call.speculate and completion.drafted:
        return f"drafted {completion.drafted} tokens although speculation was off"
    return ""

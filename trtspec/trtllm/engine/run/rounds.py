"""How requests advance in lockstep when drafts come from outside the engine.

One round: propose for all → verify all on the target engine → accept the common prefix
→ emit. Every token that is emitted is one that the target engine returned; a draft
only decides how many it returns at once.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from trtspec.errors import Problem, RunError
from trtspec.methods import Method
from trtspec.run.types import Chunk, SamplingParams, StepRecord, StepResult
from trtspec.trtllm.engine.engine_config import EngineConfig
from trtspec.trtllm.engine.run.bindings import ENDED, Answer, explained, whole_tokens
from trtspec.trtllm.engine.run.drafters import Drafter
from trtspec.trtllm.engine.run.executor import Executor
from trtspec.trtllm.engine.run.gate_engine import longest_input
from trtspec.trtllm.engine.run.request import (
    NO_DRAFT,
    Draft,
    EngineRequest,
    RequestMaker,
)


@dataclass(slots=True)
class _Turn:
    """One request's part of a round; ``emitted`` and ``accepted`` count tokens."""

    request: EngineRequest
    draft: Draft
    answer: Answer
    emitted: int = 0
    accepted: int = 0


class Rounds:
    """Drives requests on one target engine, with drafts from a drafter.

    :param engine: what the target engine says of itself.
    """

    def __init__(
        self,
        target: Executor,
        maker: RequestMaker,
        drafter: Drafter,
        engine: EngineConfig,
        method: Method,
    ) -> None:
        self._target = target
        self._maker = maker
        self._drafter = drafter
        self._engine = engine
        self._method = method

    def prefill(self, requests: Sequence[EngineRequest]) -> StepResult:
        """Read new prompts and emit their first token; nothing is drafted.

        :raises RunError: naming the requests that fail.
        """
        return self._run("prefill", requests, [0] * len(requests))

    def decode(self, requests: Sequence[EngineRequest], running: int) -> StepResult:
        """Advance every request by 1 token to its draft length + 1.

        :param running: requests in the batch, those outside of rounds included.
        :raises RunError: naming the requests that fail.
        """
        limits = [self._limit(request, running) for request in requests]
        return self._run("decode", requests, limits)

    def release(self, request: EngineRequest) -> None:
        """Forget a request that has ended."""
        self._drafter.release(request)

    def _run(
        self,
        kind: Literal["prefill", "decode"],
        requests: Sequence[EngineRequest],
        limits: Sequence[int],
    ) -> StepResult:
        started = time.perf_counter()
        forward_before = self._drafter.forward_seconds
        drafts = [NO_DRAFT] * len(requests)
        if any(limits):
            drafts = self._drafter.propose(requests, limits)
        proposed_at = time.perf_counter()
        turns = self._verify(requests, drafts)
        verified_at = time.perf_counter()

        chunks = self._settle(turns)
        if kind == "decode":
            for turn in turns:
                drafted = len(turn.draft.tokens)
                turn.request.count_step(drafted, turn.accepted, depth=drafted)
        record = StepRecord(
            kind=kind,
            running=len(turns),
            draft_length=max(limits),
            drafted=sum(len(turn.draft.tokens) for turn in turns),
            accepted=sum(turn.accepted for turn in turns),
            emitted=sum(turn.emitted for turn in turns),
            seconds=time.perf_counter() - started,
            draft_seconds=proposed_at - started if any(limits) else 0.0,
            draft_forward_seconds=self._drafter.forward_seconds - forward_before,
            forward_seconds=verified_at - proposed_at,
        )
        return StepResult(chunks, (record,))

    def _limit(self, request: EngineRequest, running: int) -> int:
        room = draft_room(self._engine, len(request.tokens))
        return min(request.draft_limit(self._method, running), room)

    def _verify(
        self, requests: Sequence[EngineRequest], drafts: Sequence[Draft]
    ) -> list[_Turn]:
        pairs = list(zip(requests, drafts, strict=True))
        sent = self._target.enqueue([self._request(r, d) for r, d in pairs])
        answers = self._target.finish(sent)
        return [_Turn(r, d, a) for (r, d), a in zip(pairs, answers, strict=True)]

    def _request(self, request: EngineRequest, draft: Draft) -> Any:
        """Ask for the draft's tokens and one more; plainly if there is no draft."""
        most, sampling = len(draft.tokens) + 1, _seeded(request)
        return self._maker.make(
            request.request, request.tokens, most, sampling, draft=draft
        )

    def _settle(self, turns: Sequence[_Turn]) -> tuple[Chunk, ...]:
        """Emit what the turns brought.

        :raises RunError: naming the requests whose turn brought nothing.
        """
        found = [self._problem(turn) for turn in turns]
        if problems := [problem for problem in found if problem]:
            raise RunError.from_problems(problems)
        return tuple(chunk for turn in turns for chunk in self._emit(turn))

    def _problem(self, turn: _Turn) -> Problem | None:
        answer, where = turn.answer, turn.request.where
        if answer.error:
            return explained(answer.error, where, self._maker.version)
        if answer.tokens or answer.finish in ENDED:
            return None
        return Problem(f"the target engine returned no token ({answer.finish})", where)

    def _emit(self, turn: _Turn) -> list[Chunk]:
        request, answer, chunks = turn.request, turn.answer, []
        if tokens := whole_tokens(answer, self._maker.end_id):
            chunk = request.emit(tokens, answer.time)
            turn.emitted = len(chunk.tokens)
            turn.accepted = common_prefix(turn.draft.tokens, chunk.tokens)
            chunks.append(chunk)
        if answer.finish in ENDED and not request.finished:
            chunks.append(request.end("stop", answer.time))
        return chunks


def draft_room(engine: EngineConfig, tokens: int) -> int:
    """Draft tokens that fit behind ``tokens``; more would be cut, or refused.

    The runtime wants room for input and draft, and for input, draft and output
    (cpp/include/tensorrt_llm/batch_manager/llmRequest.h, validate).
    """
    behind_input = longest_input(engine) - tokens
    in_sequence = (engine.max_seq_len - tokens - 1) // 2
    return max(0, min(behind_input, in_sequence, engine.max_draft_len))


def common_prefix(draft: Sequence[int], output: Sequence[int]) -> int:
    """Count the draft tokens that became output: up to the first other one.

    A verification ends its request (fact ``verification_ends_request``), so that at
    most one more token comes behind them.
    """
    pairs = zip(draft, output, strict=False)
    differing = (i for i, (ours, theirs) in enumerate(pairs) if ours != theirs)
    return next(differing, min(len(draft), len(output)))


def _seeded(request: EngineRequest) -> SamplingParams:
    return replace(request.request.sampling, seed=request.seed("target"))

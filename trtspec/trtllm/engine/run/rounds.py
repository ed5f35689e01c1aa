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

from trtspec.errors import Problem
from trtspec.run.types import SamplingParams, StepRecord
from trtspec.trtllm.engine.engine_config import EngineConfig
from trtspec.trtllm.engine.run.answers import ENDED, NO_ANSWER, Answer, whole_tokens
from trtspec.trtllm.engine.run.drafters import NO_DRAFT, Draft, Drafter
from trtspec.trtllm.engine.run.executor import Executor
from trtspec.trtllm.engine.run.messages import explained
from trtspec.trtllm.engine.run.outcome import Outcome
from trtspec.trtllm.engine.run.request import EngineRequest, RequestMaker
from trtspec.trtllm.engine.run.room import draft_room


@dataclass(slots=True)
class _Turn:
    """One request's part of a round; ``emitted`` and ``accepted`` count tokens."""

    request: EngineRequest
    draft: Draft
    answer: Answer = NO_ANSWER
    emitted: int = 0
    accepted: int = 0


class Rounds:
    """Drives requests on one target engine, with drafts from a drafter."""

    def __init__(
        self,
        target: Executor,
        maker: RequestMaker,
        drafter: Drafter,
        engine: EngineConfig,
    ) -> None:
        self._target = target
        self._maker = maker
        self._drafter = drafter
        self._engine = engine
        self._under_way: list[int] = []

    def advance(
        self,
        kind: Literal["prefill", "decode"],
        requests: Sequence[EngineRequest],
        draft_length: int,
    ) -> Outcome:
        """Advance every request by 1 to ``draft_length`` + 1 tokens.

        The prefill reads new prompts and emits their first token; nothing is drafted.
        """
        started = time.perf_counter()
        forward_before = self._drafter.forward_seconds
        limits = [self._limit(request, draft_length) for request in requests]
        drafts = self._propose(requests, limits)
        proposed_at = time.perf_counter()

        turns = [_Turn(r, d) for r, d in zip(requests, drafts, strict=True)]
        self._verify([turn for turn in turns if not turn.draft.problem])
        verified_at = time.perf_counter()

        outcome = Outcome()
        for turn in turns:
            self._settle(turn, verified_at, outcome)
            if kind == "decode" and turn.emitted:
                _count(turn)
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
        outcome.records.append(record)
        return outcome

    def release(self, request: EngineRequest) -> None:
        """Forget a request that has ended."""
        self._drafter.release(request)

    def abandon(self) -> None:
        """Cancel what a broken round has left on the engines."""
        self._drafter.abandon()
        for request in self._under_way:
            self._target.cancel(request)
        self._under_way = []

    def _limit(self, request: EngineRequest, draft_length: int) -> int:
        room = draft_room(self._engine, len(request.tokens))
        return min(request.draft_limit(draft_length), room)

    def _propose(
        self, requests: Sequence[EngineRequest], limits: Sequence[int]
    ) -> list[Draft]:
        if not any(limits):
            return [NO_DRAFT] * len(requests)
        return self._drafter.propose(requests, limits)

    def _verify(self, turns: Sequence[_Turn]) -> None:
        if not turns:
            return
        self._under_way = self._target.enqueue([self._request(turn) for turn in turns])
        answers = self._target.finish(self._under_way)
        self._under_way = []
        for turn, answer in zip(turns, answers, strict=True):
            turn.answer = answer

    def _request(self, turn: _Turn) -> Any:
        """Ask for the draft's tokens and one more; plainly if there is no draft."""
        request, draft = turn.request, turn.draft
        sampling = _seeded(request)
        more = {}
        if draft.tokens:
            config = self._maker.external_draft(draft.tokens, draft.logits)
            more["external_draft_tokens_config"] = config
        return self._maker.make(
            request.request, request.tokens, len(draft.tokens) + 1, sampling, **more
        )

    def _settle(self, turn: _Turn, now: float, outcome: Outcome) -> None:
        """Emit what a request's turn brought, or say why it brought nothing."""
        request, answer = turn.request, turn.answer
        ended = answer.finish in ENDED
        problem = turn.draft.problem or self._problem(turn, ended)
        if problem:
            outcome.failed.append((request, problem))
            return
        if tokens := whole_tokens(answer, self._maker.end_id):
            chunk = request.emit(tokens, now)
            outcome.chunks.append(chunk)
            turn.emitted = len(chunk.tokens)
            prefix = common_prefix(turn.draft.tokens, tokens)
            turn.accepted = min(prefix, turn.emitted)
        if ended and not request.finished:
            outcome.chunks.append(request.end("stop", now))

    def _problem(self, turn: _Turn, ended: bool) -> Problem | None:
        answer, where = turn.answer, turn.request.where
        if answer.error:
            return explained(answer.error, where, self._maker.version)
        if answer.tokens or ended:
            return None
        return Problem(f"the target engine returned no token ({answer.finish})", where)


def common_prefix(draft: Sequence[int], output: Sequence[int]) -> int:
    """Count the draft tokens that the target returned, up to the first other one.

    After a rejection the runtime ends the request; should a version go on to
    ``max_tokens``, what follows the first difference is plain decoding.
    """
    pairs = zip(draft, output, strict=False)
    differing = (i for i, (ours, theirs) in enumerate(pairs) if ours != theirs)
    return next(differing, min(len(draft), len(output)))


def _count(turn: _Turn) -> None:
    """Count the verification, and the plain steps behind it if there were any."""
    turn.request.count_step(len(turn.draft.tokens), turn.accepted)
    for _ in range(turn.emitted - turn.accepted - 1):
        turn.request.count_step(0, 0)


def _seeded(request: EngineRequest) -> SamplingParams:
    sampling = request.request.sampling
    if sampling.greedy:
        return sampling
    return replace(sampling, seed=request.seed("target"))

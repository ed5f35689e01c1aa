"""How requests run that the engine decodes by itself, from first token to last.

That is plain decoding, and the methods whose drafter is part of the engine. Each is one
streaming request; there are no step records, since the engine does not say where the
time of a step went.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trtspec.errors import Problem
from trtspec.methods import Lookahead, Medusa, Method
from trtspec.run.types import Chunk
from trtspec.trtllm.engine.run.acceptance import (
    METRICS,
    count_engine,
    count_plain,
    has_metrics,
)
from trtspec.trtllm.engine.run.answers import ENDED, Answer, joined, whole_tokens
from trtspec.trtllm.engine.run.executor import DRAIN_SECONDS, Executor
from trtspec.trtllm.engine.run.messages import explained
from trtspec.trtllm.engine.run.outcome import Outcome
from trtspec.trtllm.engine.run.request import GREEDY, EngineRequest, RequestMaker

PLAIN_LOOKAHEAD = (1, 1, 0)
"""Window, n-gram and verification set of plain decoding on a lookahead engine
(cpp executor, LookaheadDecodingConfig)."""


@dataclass(slots=True)
class _Stream:
    """A request on its way.

    :param received: tokens that the engine has emitted, also past a stop string.
    :param last: its last chunk, kept until the engine has let go of the request.
    :param stopped_at: ``time.perf_counter`` seconds at which we ended it.
    """

    request: EngineRequest
    id: int
    drafts: bool
    received: int = 0
    last: Chunk | None = None
    stopped_at: float = 0.0


class Streams:
    """Drives streaming requests on one engine.

    :param method: the method that the engine drafts with; None if it does not.
    """

    def __init__(
        self, executor: Executor, maker: RequestMaker, method: Method | None
    ) -> None:
        self._executor = executor
        self._maker = maker
        self._method = method
        self._streams: dict[EngineRequest, _Stream] = {}

    def __contains__(self, request: EngineRequest) -> bool:
        return request in self._streams

    def __bool__(self) -> bool:
        return bool(self._streams)

    def start(self, requests: Sequence[EngineRequest]) -> None:
        """Send requests to the engine."""
        if not requests:
            return
        drafts = [self._drafts(request) for request in requests]
        sent = [self._request(r, d) for r, d in zip(requests, drafts, strict=True)]
        ids = self._executor.enqueue(sent)
        for request, executor_id, does in zip(requests, ids, drafts, strict=True):
            self._streams[request] = _Stream(request, executor_id, does)

    def advance(self, seconds: float) -> Outcome:
        """Wait up to ``seconds`` for output and emit what there is."""
        self._executor.poll(seconds)
        outcome = Outcome()
        for stream in list(self._streams.values()):
            self._take(stream, self._executor.collect(stream.id), outcome)
        return outcome

    def cancel(self, request: EngineRequest) -> None:
        """Drop a request; what the engine still says of it is thrown away."""
        if stream := self._streams.pop(request, None):
            self._executor.cancel(stream.id)

    def abandon(self) -> None:
        """Drop all requests."""
        for request in list(self._streams):
            self.cancel(request)

    def _drafts(self, request: EngineRequest) -> bool:
        return self._method is not None and request.request.speculate

    def _request(self, request: EngineRequest, drafts: bool) -> Any:
        asked = request.request
        # contract of these decoders: they take the likeliest token, at temperature 1
        greedy = isinstance(self._method, Medusa | Lookahead)
        output = {METRICS: True} if drafts and has_metrics(self._bindings) else {}
        return self._maker.make(
            asked,
            request.tokens,
            asked.max_new_tokens,
            GREEDY if greedy else asked.sampling,
            streaming=True,
            output_config=self._maker.output(**output),
            **self._lookahead(request, drafts),
        )

    @property
    def _bindings(self) -> Any:
        return self._maker.bindings

    def _lookahead(self, request: EngineRequest, drafts: bool) -> dict[str, Any]:
        """Give the request's own sizes, or those that draft nothing."""
        own = request.request.speculation
        if not isinstance(self._method, Lookahead):
            return {}
        if not drafts:
            return {"lookahead_config": self._maker.lookahead(*PLAIN_LOOKAHEAD)}
        if not isinstance(own, Lookahead):
            return {}
        sizes = (own.window_size, own.ngram_size, own.verification_set_size)
        return {"lookahead_config": self._maker.lookahead(*sizes)}

    def _take(
        self, stream: _Stream, answers: Sequence[Answer], outcome: Outcome
    ) -> None:
        """Emit a request's new tokens; end it if they, or the engine, do."""
        now = time.perf_counter()
        answer = joined(answers) if answers else None
        if answer is not None:
            tokens = whole_tokens(answer, self._maker.end_id)
            stream.received += len(tokens)
            if stream.last is None:
                self._emit(stream, tokens, now, outcome)
            if stream.last is None and answer.final:
                self._end(stream, answer, now, outcome)
        if stream.last is not None:
            self._finish(stream, answer, now, outcome)

    def _emit(
        self, stream: _Stream, tokens: Sequence[int], now: float, outcome: Outcome
    ) -> None:
        if not tokens:
            return
        chunk = stream.request.emit(tokens, now)
        if stream.request.finished:
            stream.last = chunk
        else:
            outcome.chunks.append(chunk)

    def _end(
        self, stream: _Stream, answer: Answer, now: float, outcome: Outcome
    ) -> None:
        """Take the engine's word that a request is over, if it says a good one."""
        request = stream.request
        if answer.finish in ENDED:
            stream.last = request.end("stop", now)
            return
        problem = Problem(
            f"the engine ended it ({answer.finish or 'no reason given'}) after "
            f"{len(request.completion.tokens)} of {request.request.max_new_tokens} "
            "tokens",
            request.where,
        )
        if answer.error:
            problem = explained(answer.error, request.where, self._maker.version)
        outcome.failed.append((request, problem))
        self.cancel(request)

    def _finish(
        self, stream: _Stream, answer: Answer | None, now: float, outcome: Outcome
    ) -> None:
        """Hand out the last chunk once the engine has let go of the request.

        Its last answer carries the counts. What an end of ours takes longer is in no
        time: those are of the tokens.
        """
        assert stream.last is not None, "it has emitted its last token"
        is_final = answer is not None and answer.final
        if not is_final and not stream.stopped_at:
            stream.stopped_at = now
            self._executor.stop(stream.id)
        waited = now - stream.stopped_at
        if not is_final and waited < DRAIN_SECONDS:
            return
        completion = stream.request.completion
        if not stream.drafts:
            count_plain(completion)
        elif answer is not None and is_final:
            count_engine(completion, answer.result, stream.received)
        outcome.chunks.append(stream.last)
        self.cancel(stream.request)

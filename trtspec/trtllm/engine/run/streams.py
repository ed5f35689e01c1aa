"""How requests run that the engine decodes by itself, from first token to last.

That is plain decoding, and the methods whose drafter is part of the engine. Each is one
streaming request; there are no step records, since the engine does not say where the
time of a step went. Of speculation it says:

- ``decoding_iter`` counts iterations, the one that reads the prompt included
  (cpp/tensorrt_llm/batch_manager, updateRequests), so that there was one verification
  step less.
- Every iteration emits the draft tokens that became output and one more, so that those
  are the emitted tokens less ``decoding_iter``. An end token that was itself drafted
  counts as that one more: the engine does not say whether it was.
- With ``return_perf_metrics`` the last answer says how many tokens were drafted. A
  tree's step counts as drafted the longest path, not its nodes. Its own count of
  accepted tokens leaves out end tokens
  (cpp/include/tensorrt_llm/batch_manager/llmRequest.h, updateNumTokensPerIteration),
  and is not used. Without the metrics ``drafted`` stays 0: there is no acceptance rate.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trtspec.errors import Problem, RunError
from trtspec.methods import Lookahead, Medusa, Method
from trtspec.run.types import Chunk, Completion
from trtspec.trtllm import facts
from trtspec.trtllm.engine.run.bindings import (
    ENDED,
    Answer,
    Bindings,
    explained,
    whole_tokens,
)
from trtspec.trtllm.engine.run.executor import DRAIN_SECONDS, Executor
from trtspec.trtllm.engine.run.request import GREEDY, EngineRequest, RequestMaker

METRICS = "return_perf_metrics"
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
    stopped_at: float | None = None


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

    def receive(self, seconds: float) -> list[Chunk]:
        """Wait up to ``seconds`` for output and emit what there is.

        :raises RunError: naming the requests that fail.
        """
        self._executor.poll(seconds)
        chunks: list[Chunk] = []
        problems: list[Problem] = []
        for stream in list(self._streams.values()):
            for answer in self._executor.collect(stream.id):
                self._take(stream, answer, chunks)
                problems += self._problems(stream, answer)
            if self._is_overdue(stream):
                self._hand_out(stream, chunks)
        if problems:
            raise RunError.from_problems(problems)
        return chunks

    def discard(self, request: EngineRequest) -> None:
        """Drop a request; what the engine still says of it is thrown away."""
        if stream := self._streams.pop(request, None):
            self._executor.discard(stream.id)

    def clear(self) -> None:
        """Forget all requests; the executor is told by somebody else."""
        self._streams.clear()

    def _drafts(self, request: EngineRequest) -> bool:
        return self._method is not None and request.request.speculate

    def _request(self, request: EngineRequest, drafts: bool) -> Any:
        asked = request.request
        # contract of these decoders: they take the likeliest token, at temperature 1
        greedy = isinstance(self._method, Medusa | Lookahead)
        output = (METRICS,) if drafts and has_metrics(self._maker.bindings) else ()
        return self._maker.make(
            asked,
            request.tokens,
            asked.max_new_tokens,
            GREEDY if greedy else asked.sampling,
            streaming=True,
            lookahead=self._lookahead(request, drafts),
            output=output,
        )

    def _lookahead(
        self, request: EngineRequest, drafts: bool
    ) -> tuple[int, int, int] | None:
        """Give the request's own sizes, or those that draft nothing."""
        own = request.request.speculation
        if not isinstance(self._method, Lookahead):
            return None
        if not drafts:
            return PLAIN_LOOKAHEAD
        if not isinstance(own, Lookahead):
            return None
        return own.window_size, own.ngram_size, own.verification_set_size

    def _take(self, stream: _Stream, answer: Answer, chunks: list[Chunk]) -> None:
        """Emit a request's new tokens; end it if they, or the engine, do."""
        request = stream.request
        tokens = whole_tokens(answer, self._maker.end_id)
        stream.received += len(tokens)
        if tokens and not request.finished:
            chunk = request.emit(tokens, answer.time)
            if request.finished:
                stream.last = chunk
            else:
                chunks.append(chunk)
        if answer.final and answer.finish in ENDED and not request.finished:
            stream.last = request.end("stop", answer.time)
        if answer.final and stream.last:
            if stream.drafts:
                count_engine(request.completion, answer.result, stream.received)
            self._hand_out(stream, chunks)
        elif stream.last and stream.stopped_at is None:
            stream.stopped_at = time.perf_counter()
            self._executor.end_early(stream.id)

    def _problems(self, stream: _Stream, answer: Answer) -> list[Problem]:
        """Say why a request did not end as it should have."""
        request = stream.request
        if answer.error:
            version = self._maker.version
            return [explained(answer.error, request.where, version)]
        if not answer.final or request.finished:
            return []
        what = (
            f"the engine ended it ({answer.finish or 'no reason given'}) after "
            f"{len(request.completion.tokens)} of {request.request.max_new_tokens} "
            "tokens"
        )
        return [Problem(what, request.where)]

    def _is_overdue(self, stream: _Stream) -> bool:
        """Whether the engine has not confirmed in time that we ended a request."""
        if stream.stopped_at is None or stream.request not in self._streams:
            return False
        return time.perf_counter() - stream.stopped_at >= DRAIN_SECONDS

    def _hand_out(self, stream: _Stream, chunks: list[Chunk]) -> None:
        """Give the last chunk once the engine has let go of the request.

        Its last answer carries the counts. What an end of ours takes longer is in no
        time: those are of the tokens.
        """
        assert stream.last is not None, "it has emitted its last token"
        if not stream.drafts:
            count_plain(stream.request.completion)
        chunks.append(stream.last)
        self.discard(stream.request)


def has_metrics(bindings: Bindings) -> bool:
    """Whether this version tells the drafted tokens of a request."""
    told = facts.attributes("RequestPerfMetrics", bindings.version)
    return bindings.has("OutputConfig", METRICS) and "speculative_decoding" in told


def count_engine(completion: Completion, result: Any, emitted: int) -> None:
    """Fill a completion's counts from the engine's; leave them 0 if it says nothing.

    :param result: the request's last one.
    :param emitted: tokens that the engine emitted for it, the end token included.
    """
    iterations = int(getattr(result, "decoding_iter", None) or 0)
    if not iterations:
        return
    metrics = getattr(result, "request_perf_metrics", None)
    speculative = getattr(metrics, "speculative_decoding", None)
    completion.steps = iterations - 1
    completion.drafted = int(getattr(speculative, "total_draft_tokens", 0))
    completion.accepted = max(0, emitted - iterations)


def count_plain(completion: Completion) -> None:
    """Fill the counts of plain decoding: one step per token but the first."""
    completion.steps = max(0, len(completion.tokens) - 1)

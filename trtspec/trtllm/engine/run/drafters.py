"""Where drafts from outside come from: an n-gram index, or a draft engine."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from trtspec.errors import Problem
from trtspec.methods import NGram
from trtspec.run.prompt_lookup import NGramIndex
from trtspec.trtllm.engine.run.answers import Answer, whole_tokens
from trtspec.trtllm.engine.run.executor import Executor
from trtspec.trtllm.engine.run.messages import explained
from trtspec.trtllm.engine.run.request import (
    GREEDY,
    PLAIN_SAMPLING,
    EngineRequest,
    RequestMaker,
)


@dataclass(frozen=True, slots=True)
class Draft:
    """What is proposed for one request.

    :param tokens: a chain; empty for no proposal.
    :param logits: [tokens, vocabulary] that they were sampled from, or None.
    :param problem: why this request cannot go on.
    """

    tokens: tuple[int, ...] = ()
    logits: Any = None
    problem: Problem | None = None


NO_DRAFT = Draft()


class Drafter(Protocol):
    """Proposes a chain for each of some requests."""

    @property
    def forward_seconds(self) -> float:
        """Seconds spent waiting for a draft engine since the start."""
        ...

    def propose(
        self, requests: Sequence[EngineRequest], limits: Sequence[int]
    ) -> list[Draft]:
        """Give a draft per request, no longer than its limit; 0 asks for none."""
        ...

    def release(self, request: EngineRequest) -> None:
        """Forget a request that has ended."""
        ...

    def abandon(self) -> None:
        """Stop what is under way: the round is over."""
        ...


class NGramDrafter:
    """Copies what followed the same n-gram earlier in the text."""

    forward_seconds = 0.0

    def __init__(self, method: NGram) -> None:
        self._longest = method.max_matching_ngram
        self._indexes: dict[EngineRequest, NGramIndex] = {}

    def propose(
        self, requests: Sequence[EngineRequest], limits: Sequence[int]
    ) -> list[Draft]:
        """Look every request's text up."""
        return [
            Draft(tuple(self._index(request).draft(request.tokens, limit)))
            if limit
            else NO_DRAFT
            for request, limit in zip(requests, limits, strict=True)
        ]

    def release(self, request: EngineRequest) -> None:
        """Forget a request's text."""
        self._indexes.pop(request, None)

    def abandon(self) -> None:
        """Nothing is under way between two calls."""

    def _index(self, request: EngineRequest) -> NGramIndex:
        if request not in self._indexes:
            own = request.request.speculation
            longest = (
                own.max_matching_ngram if isinstance(own, NGram) else self._longest
            )
            self._indexes[request] = NGramIndex(longest)
        return self._indexes[request]


class DraftEngine:
    """Proposes by running a draft engine, all requests at once.

    Greedy requests are drafted for greedily. For sampled ones with logits the draft is
    drawn at temperature 1 without top-k and top-p, whatever the request asks for: the
    runtime takes the plain softmax of the logits for q, and only then is its rejection
    sampling exact.

    :param draft_vocabulary: rows of the draft model.
    :param vocabulary: rows of the target model.
    """

    def __init__(
        self,
        executor: Executor,
        maker: RequestMaker,
        *,
        draft_vocabulary: int,
        vocabulary: int,
        use_logits: bool,
    ) -> None:
        self._executor = executor
        self._maker = maker
        self._draft_vocabulary = draft_vocabulary
        self._vocabulary = vocabulary
        self._use_logits = use_logits
        self._under_way: list[int] = []
        self.forward_seconds = 0.0

    def propose(
        self, requests: Sequence[EngineRequest], limits: Sequence[int]
    ) -> list[Draft]:
        """Ask the draft engine for every request that has room for a draft."""
        asked = [(r, k) for r, k in zip(requests, limits, strict=True) if k]
        drafts: dict[EngineRequest, Draft] = {}
        if asked:
            started = time.perf_counter()
            answers = self._answers([self._request(r, k) for r, k in asked])
            self.forward_seconds += time.perf_counter() - started
            for (request, limit), answer in zip(asked, answers, strict=True):
                drafts[request] = self._draft(request, limit, answer)
        return [drafts.get(request, NO_DRAFT) for request in requests]

    def release(self, request: EngineRequest) -> None:
        """Nothing is kept: the draft engine finds its prefix in its own cache."""

    def abandon(self) -> None:
        """Cancel the drafts that are under way."""
        for request in self._under_way:
            self._executor.cancel(request)
        self._under_way = []

    def _answers(self, requests: Sequence[Any]) -> list[Answer]:
        self._under_way = self._executor.enqueue(requests)
        answers = self._executor.finish(self._under_way)
        self._under_way = []
        return answers

    def _with_logits(self, request: EngineRequest) -> bool:
        return self._use_logits and not request.request.sampling.greedy

    def _request(self, request: EngineRequest, limit: int) -> Any:
        with_logits = self._with_logits(request)
        sampling = GREEDY
        if with_logits:
            sampling = replace(PLAIN_SAMPLING, seed=request.seed("draft"))
        output = {"return_generation_logits": True} if with_logits else {}
        return self._maker.make(
            request.request,
            [self._known(token) for token in request.tokens],
            limit,
            sampling,
            output_config=self._maker.output(**output),
        )

    def _known(self, token: int) -> int:
        """Replace ids that the draft model has no row for; its guess may be poorer."""
        return token if token < self._draft_vocabulary else 0

    def _draft(self, request: EngineRequest, limit: int, answer: Answer) -> Draft:
        error, with_logits = answer.error, self._with_logits(request)
        if with_logits and answer.logits is None:
            error = error or "the draft came without its generation logits"
        if error:
            where = f"{request.where}, {self._executor.role}"
            return Draft(problem=explained(error, where, self._maker.version))
        end_id = None if with_logits else self._maker.end_id  # it came without logits
        tokens = whole_tokens(answer, end_id)[:limit]
        foreign = (i for i, t in enumerate(tokens) if t >= self._vocabulary)
        tokens = tokens[: next(foreign, len(tokens))]
        logits = answer.logits[: len(tokens)] if with_logits and tokens else None
        return Draft(tokens, logits)

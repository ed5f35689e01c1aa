"""Where drafts from outside come from: an n-gram index, or a draft engine."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from trtspec.errors import Problem, RunError
from trtspec.methods import NGram
from trtspec.run.prompt_lookup import PromptLookup
from trtspec.trtllm.engine.run.bindings import Answer, explained, whole_tokens
from trtspec.trtllm.engine.run.executor import Executor
from trtspec.trtllm.engine.run.request import (
    GREEDY,
    NO_DRAFT,
    PLAIN_SAMPLING,
    Draft,
    EngineRequest,
    RequestMaker,
)

GENERATION_LOGITS = "return_generation_logits"


class Drafter(Protocol):
    """Proposes a chain for each of some requests."""

    @property
    def forward_seconds(self) -> float:
        """Seconds spent waiting for a draft engine since the start."""
        ...

    def propose(
        self, requests: Sequence[EngineRequest], limits: Sequence[int]
    ) -> list[Draft]:
        """Give a draft per request, no longer than its limit; 0 asks for none.

        :raises RunError: naming the requests for which there can be none.
        """
        ...

    def release(self, request: EngineRequest) -> None:
        """Forget a request that has ended."""
        ...


class NGramDrafter:
    """Copies what followed the same n-gram earlier in the text."""

    forward_seconds = 0.0

    def __init__(self, method: NGram) -> None:
        self._lookup = PromptLookup(method)

    def propose(
        self, requests: Sequence[EngineRequest], limits: Sequence[int]
    ) -> list[Draft]:
        """Look every request's text up."""
        return [self._draft(r, k) for r, k in zip(requests, limits, strict=True)]

    def _draft(self, request: EngineRequest, limit: int) -> Draft:
        own = request.request.speculation
        return Draft(tuple(self._lookup.draft(request, request.tokens, limit, own)))

    def release(self, request: EngineRequest) -> None:
        """Forget a request's text."""
        self._lookup.forget(request)


class DraftEngine:
    """Proposes by running a draft engine, all requests at once.

    Greedy requests are drafted for greedily. For sampled ones with logits the draft is
    drawn at temperature 1 without top-k and top-p, whatever the request asks for: the
    runtime takes the plain softmax of the logits for q, and only then is its rejection
    sampling exact. Nor may the length of such a draft depend on what was drawn: an end
    token is a token like any other in it, and a draft that cannot be verified as it
    was drawn is an error.

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
        self.forward_seconds = 0.0

    def propose(
        self, requests: Sequence[EngineRequest], limits: Sequence[int]
    ) -> list[Draft]:
        """Ask the draft engine for every request that has room for a draft."""
        asked = [(r, k) for r, k in zip(requests, limits, strict=True) if k]
        if not asked:
            return [NO_DRAFT] * len(requests)
        started = time.perf_counter()
        sent = self._executor.enqueue([self._request(r, k) for r, k in asked])
        answers = self._executor.finish(sent)
        self.forward_seconds += time.perf_counter() - started
        drafts = {
            request: self._draft(request, limit, answer)
            for (request, limit), answer in zip(asked, answers, strict=True)
        }
        found = [drafts.get(request, NO_DRAFT) for request in requests]
        if problems := [draft for draft in found if isinstance(draft, Problem)]:
            raise RunError.from_problems(problems)
        return [draft for draft in found if isinstance(draft, Draft)]

    def release(self, request: EngineRequest) -> None:
        """Nothing is kept: the draft engine finds its prefix in its own cache."""

    def _with_logits(self, request: EngineRequest) -> bool:
        return self._use_logits and not request.is_greedy

    def _request(self, request: EngineRequest, limit: int) -> Any:
        tokens = [self._known(token) for token in request.tokens]
        asked = request.request
        if not self._with_logits(request):
            return self._maker.make(asked, tokens, limit, GREEDY)
        sampling = replace(PLAIN_SAMPLING, seed=request.seed("draft"))
        return self._maker.make(
            asked, tokens, limit, sampling, ends=False, output=(GENERATION_LOGITS,)
        )

    def _known(self, token: int) -> int:
        """Replace ids that the draft model has no row for; its guess may be poorer."""
        return token if token < self._draft_vocabulary else 0

    def _draft(
        self, request: EngineRequest, limit: int, answer: Answer
    ) -> Draft | Problem:
        where = f"{request.where}, {self._executor.name}"
        if answer.error:
            return explained(answer.error, where, self._maker.version)
        if self._with_logits(request):
            fault = self._fault(answer, limit)
            logits = None if fault else answer.logits[:limit]
            return Problem(fault, where) if fault else Draft(answer.tokens, logits)
        tokens = whole_tokens(answer, self._maker.end_id)[:limit]
        foreign = (i for i, t in enumerate(tokens) if t >= self._vocabulary)
        return Draft(tokens[: next(foreign, len(tokens))])

    def _fault(self, answer: Answer, limit: int) -> str:
        """Say why a draft cannot be verified by its logits; empty if it can."""
        if answer.logits is None:
            return "the draft came without its generation logits"
        if len(answer.tokens) != limit or len(answer.logits) < limit:
            return (
                f"the draft has {len(answer.tokens)} tokens and {len(answer.logits)} "
                f"rows of logits, and {limit} were asked for"
            )
        foreign = [token for token in answer.tokens if token >= self._vocabulary]
        if foreign:
            return (
                f"the draft has the token id {foreign[0]}, and the target model's "
                f"vocabulary has {self._vocabulary}"
            )
        return ""

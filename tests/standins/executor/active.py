"""What does one running request do in each step?"""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import torch
from torch import Tensor

from tests.standins.executor import trees
from tests.standins.executor.engine import Engine
from tests.standins.executor.plans import Speculation
from tests.standins.executor.records import RequestRecord
from tests.standins.executor.responses import (
    RequestPerfMetrics,
    Result,
    SpeculativeDecodingMetrics,
    TimingMetrics,
)
from tests.standins.executor.sampling import Chooser
from tests.standins.executor.words import FinishReason
from trtspec.reference.acceptance import Acceptance
from trtspec.reference.tree import NO_DRAFT, ROOT, DraftTree


class Active:
    """A request that was admitted."""

    def __init__(
        self, record: RequestRecord, engine: Engine, plan: Speculation
    ) -> None:
        self.record = record
        self.is_cancelled = False
        self.finish = FinishReason.NOT_FINISHED
        self._has_verified = False
        self._told_accepted = 0
        self._request = record.request
        self._engine = engine
        self._plan = plan
        self._tokens = list(record.prompt)
        self._iterations = 0
        self._logits: list[Tensor] = []
        self._times = [_now()]
        self._chooser = Chooser(
            self._request.sampling_config, plan.is_greedy, plan.threshold
        )

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it, for a reason or without."""
        return self._has_verified or self.finish is not FinishReason.NOT_FINISHED

    def step(self) -> Result | None:
        """Do one step; the answer that it leads to, if any."""
        if self.is_cancelled:
            self.finish = FinishReason.CANCELLED
            return self._result([])
        first = self._iterations == 0
        tree = self._external() if first else self._own()
        logits = self._verify(tree)
        outcome = self._accept(tree, logits)
        self._iterations += 1
        new = self._emit(tree, outcome)
        # a request with external drafts ends after its one verification
        self._has_verified = first and len(tree) > 0
        nodes = [0, *(node + 1 for node in outcome.path)]
        self._logits += [logits[node] for node in nodes][: len(new)]
        self._times.append(_now())
        if self.is_over or self._request.streaming:
            return self._result(new)
        return None

    def _external(self) -> DraftTree:
        return DraftTree.chain(self.record.external_draft)

    def _own(self) -> DraftTree:
        paths = self._paths()
        if not paths:
            return NO_DRAFT
        return trees.propose(paths, self._tokens, self._engine.vocabulary)

    def _paths(self) -> tuple[trees.Path, ...]:
        if self._plan.lookahead is None:
            return self._plan.paths
        own = self._request.lookahead_config
        _, n, g = self._plan.lookahead if own is None else _sizes(own)
        return tuple(trees.beams(g, n - 1))

    def _verify(self, tree: DraftTree) -> Tensor:
        """Logits after the pending token and after each node: [1 + nodes, rows]."""
        texts = [tuple(self._tokens)]
        for token, parent in zip(tree.tokens, tree.parents, strict=True):
            above = texts[0] if parent == ROOT else texts[1 + parent]
            texts.append((*above, token))
        return torch.stack([self._engine.logits(text) for text in texts])

    def _accept(self, tree: DraftTree, logits: Tensor) -> Acceptance:
        draft = self._request.external_draft_tokens_config
        if self._iterations == 0 and len(tree):
            return self._chooser.accept_external(draft, tree, logits)
        return self._chooser.accept(tree, logits)

    def _emit(self, tree: DraftTree, outcome: Acceptance) -> list[int]:
        """Take tokens until something ends the request; the end token is left out."""
        path = [tree.tokens[node] for node in outcome.path]
        new: list[int] = []
        used = 0
        for token in (*path, outcome.next_token):
            used += 1
            if token == self._request.end_id:
                self.finish = FinishReason.END_ID
                break
            new.append(token)
            self.record.output.append(token)
            self.finish = self._reason()
            if self.finish is not FinishReason.NOT_FINISHED:
                break
        self._tokens += new
        self._count(tree, min(used, len(path)))
        if len(tree):  # LlmRequest::updateNumTokensPerIteration: without the end token
            self._told_accepted += max(1, len(new)) - 1
        return new

    def _reason(self) -> FinishReason:
        output = self.record.output
        for word in self._request.stop_words or ():
            if word and output[-len(word) :] == list(word):
                return FinishReason.STOP_WORDS
        if len(output) >= self.record.max_tokens:
            return FinishReason.LENGTH
        return FinishReason.NOT_FINISHED

    def _count(self, tree: DraftTree, accepted: int) -> None:
        record = self.record
        record.steps += 1
        record.finish_reason = self.finish.name
        if len(tree):
            record.drafted += tree.depth
            record.nodes += len(tree)
            record.accepted += accepted
            record.accepted_per_step.append(accepted)

    def _result(self, new: list[int]) -> Result:
        request, final = self._request, self.is_over
        self.record.finish_reason = self.finish.name
        output = self.record.output
        if request.streaming:
            tokens = output if request.return_all_generated_tokens else new
        elif request.output_config.exclude_input_from_output:
            tokens = output
        else:
            tokens = [*self.record.prompt, *output]
        return Result(
            is_final=final,
            output_token_ids=[list(tokens)],
            finish_reasons=[self.finish],
            decoding_iter=self._iterations,
            avg_decoded_tokens_per_iter=len(output) / max(self._iterations, 1),
            generation_logits=self._generation_logits(len(new)),
            request_perf_metrics=self._metrics() if final else None,
            is_sequence_final=final,
        )

    def _generation_logits(self, new: int) -> Tensor | None:
        """[beams, tokens, rows]; when streaming [new tokens, beams, rows]."""
        wanted = self._request.output_config.return_generation_logits
        if not wanted or not self._logits:
            return None
        if self._request.streaming:
            latest = self._logits[len(self._logits) - new :]
            return torch.stack(latest)[:, None] if latest else None
        return torch.stack(self._logits)[None]

    def _metrics(self) -> RequestPerfMetrics | None:
        if not getattr(self._request.output_config, "return_perf_metrics", False):
            return None
        accepted, drafted = self._told_accepted, self.record.drafted
        rate = accepted / drafted if drafted else 0.0
        first = self._times[min(1, len(self._times) - 1)]
        return RequestPerfMetrics(
            TimingMetrics(self._times[0], self._times[0], first, self._times[-1]),
            SpeculativeDecodingMetrics(rate, accepted, drafted),
            first_iter=0,
            last_iter=self._iterations,
            iter=self._iterations,
        )


def _now() -> timedelta:
    return timedelta(seconds=time.monotonic())


def _sizes(config: Any) -> tuple[int, int, int]:
    return (
        config.max_window_size,
        config.max_ngram_size,
        config.max_verification_set_size,
    )

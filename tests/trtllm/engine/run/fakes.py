"""A pure Python stand-in of the bindings: it records calls and follows a script."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from types import ModuleType, SimpleNamespace
from typing import Any

from packaging.version import Version

from tests.trtllm.engine.run.arguments import ARGUMENTS, Made

VOCABULARY = 48


def target_token(tokens) -> int:
    """What the fake target model finds likeliest behind some tokens."""
    return (31 * sum(tokens[-3:]) + 7 * len(tokens)) % (VOCABULARY - 3) + 3


def draft_token(tokens) -> int:
    """The fake draft model errs on every third position."""
    token = target_token(tokens)
    return token if len(tokens) % 3 else 3 + token % 40


@dataclass
class Script:
    """How a fake engine behaves.

    :param accepts: draft tokens that an engine with its own drafter accepts per step.
    :param error: message for a request, by its input; empty for none.
    :param dies_at: poll at which the executor dies; it throws from then on.
    :param cut: the engine ends every request after so many tokens.
    :param poll: called at every poll, as when a clock is to be set.
    """

    token: Callable[[Any], int] = target_token
    accepts: int = 0
    error: Callable[[Any], str] = lambda tokens: ""
    dies_at: int | None = None
    load_error: str = ""
    cut: int | None = None
    metrics: bool = True
    answers_cancellation: bool = True
    excludes_end: bool = True
    poll: Callable[[], None] = lambda: None


@dataclass
class Active:
    id: int
    request: Made
    tokens: list[int]
    emitted: int = 0
    iterations: int = 0
    told_accepted: int = 0
    drafted: int = 0
    finish: str = ""
    has_verified: bool = False

    @property
    def is_over(self) -> bool:
        return bool(self.finish) or self.has_verified


class FakeExecutor:
    def __init__(self, path, kind, config, script: Script) -> None:
        if script.load_error:
            raise RuntimeError(script.load_error)
        assert kind == "DECODER_ONLY"
        self.path, self.config, self.script = path, config, script
        self.requests: list[Made] = []
        self.batches: list[int] = []
        self.cancelled: list[int] = []
        self.is_shut_down = False
        self.takes_requests = True
        self.is_dead = False
        self.polls = 0
        self._ids = count(1)
        self._active: list[Active] = []

    def enqueue_requests(self, requests):
        self._require_life()
        self.requests += requests
        self.batches.append(len(requests))
        new = [Active(next(self._ids), r, list(r.input_token_ids)) for r in requests]
        self._active += new
        return [active.id for active in new]

    def await_responses(self, timeout):
        assert timeout.total_seconds() >= 0
        self.polls += 1
        self.is_dead |= self.polls == self.script.dies_at
        self._require_life()
        self.script.poll()
        return [r for active in list(self._active) for r in self._answer(active)]

    def cancel_request(self, id):  # noqa: A002
        self._require_life()
        self.cancelled.append(id)

    def can_enqueue_requests(self):
        return self.takes_requests and not self.is_dead

    def _require_life(self):
        assert not self.is_shut_down
        if self.is_dead:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")

    def shutdown(self):
        assert not self.is_shut_down, "shut down twice"
        self.is_shut_down = True

    def _answer(self, active):
        if active.id in self.cancelled:
            self._active.remove(active)
            active.finish = "CANCELLED"
            if self.script.answers_cancellation:
                return [_response(active, [], self.script)]
            return []
        message = self.script.error(active.tokens)
        if message:
            self._active.remove(active)
            return [
                SimpleNamespace(
                    request_id=active.id, has_error=lambda: True, error_msg=message
                )
            ]
        new: list[int] = []
        while not active.is_over:
            new += self._step(active)
            if active.request.streaming:
                break
        if active.is_over:
            self._active.remove(active)
        return [_response(active, new, self.script)]

    def _step(self, active):
        request, script = active.request, self.script
        external = request.external_draft_tokens_config
        first, active.iterations = active.iterations == 0, active.iterations + 1
        most = script.accepts if not first and script.accepts else 0
        draft = list(external.tokens) if external and first else []
        if most:
            active.drafted += most + 1
        new: list[int] = []
        for place in range(len(draft) + most + 1):
            token = script.token(active.tokens)
            ended = self._add(active, token, new)
            if ended or (draft and place < len(draft) and token != draft[place]):
                break
        if most:  # the end token is not among those that it counts
            active.told_accepted += max(1, len(new)) - 1
        active.has_verified = bool(external and first)
        return new

    def _add(self, active, token, new):
        request = active.request
        ends = [request.end_id, *(w[0] for w in request.stop_words or [])]
        at_end = token in ends
        if not (at_end and self.script.excludes_end):
            active.tokens.append(token)
            new.append(token)
        active.emitted += 1
        if at_end:
            active.finish = "END_ID" if token == request.end_id else "STOP_WORDS"
        elif active.emitted >= min(request.max_tokens, self.script.cut or 10**9):
            active.finish = "LENGTH"
        return bool(active.finish)


def _response(active, tokens, script):
    output = active.request.output_config
    metrics = None
    told = script.metrics and output.return_perf_metrics
    if told and active.drafted and active.finish:
        metrics = SimpleNamespace(
            speculative_decoding=SimpleNamespace(
                total_draft_tokens=active.drafted,
                total_accepted_draft_tokens=active.told_accepted,
            )
        )
    logits = None
    if output.return_generation_logits:
        logits = [[("logits", active.id, i) for i in range(active.request.max_tokens)]]
    result = SimpleNamespace(
        is_final=active.is_over,
        output_token_ids=[list(tokens)],
        finish_reasons=[SimpleNamespace(name=active.finish or "NOT_FINISHED")],
        generation_logits=logits,
        decoding_iter=active.iterations,
        avg_decoded_tokens_per_iter=active.emitted / max(1, active.iterations),
        request_perf_metrics=metrics,
    )
    return SimpleNamespace(request_id=active.id, has_error=lambda: False, result=result)


class FakeBindings(ModuleType):
    """The module; ``scripts`` and ``executors`` are keyed by the engine's folder."""

    def __init__(self, version: str) -> None:
        super().__init__("tensorrt_llm.bindings.executor")
        self.version = Version(version)
        self.scripts: dict[str, Script] = {}
        self.executors: dict[str, FakeExecutor] = {}
        self.order: list[str] = []
        self.ModelType = SimpleNamespace(DECODER_ONLY="DECODER_ONLY")
        self.CommunicationType = SimpleNamespace(MPI="MPI")
        self.CommunicationMode = SimpleNamespace(
            LEADER="LEADER", ORCHESTRATOR="ORCHESTRATOR"
        )
        self.DecodingMode = SimpleNamespace(
            Medusa=lambda: "Medusa",
            Eagle=lambda: "Eagle",
            Lookahead=lambda: "Lookahead",
        )

    def __getattr__(self, name: str) -> Any:
        if name not in ARGUMENTS:
            raise AttributeError(name)
        return lambda **arguments: Made(name, self.version, **arguments)

    def Executor(self, path, kind, config):  # noqa: N802
        self.order.append(path.name)
        script = self.scripts.get(path.name, Script())
        executor = FakeExecutor(path, kind, config, script)
        self.executors[path.name] = executor
        return executor


def install(monkeypatch, version: str = "1.2.1") -> FakeBindings:
    """Make the fake what ``import tensorrt_llm.bindings.executor`` gives."""
    bindings = FakeBindings(version)
    parent, between = ModuleType("tensorrt_llm"), ModuleType("tensorrt_llm.bindings")
    parent.bindings, between.executor = between, bindings
    modules = {
        "tensorrt_llm": parent,
        "tensorrt_llm.bindings": between,
        "tensorrt_llm.bindings.executor": bindings,
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return bindings

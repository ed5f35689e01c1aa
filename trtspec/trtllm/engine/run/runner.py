"""The engine backend's runner: an artifact's engines, loaded and ready for requests."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from trtspec.build.artifact import Artifact
from trtspec.errors import RunError
from trtspec.methods import DraftTarget, NGram
from trtspec.recipe.schema import Recipe
from trtspec.run import Message, Request, StepResult
from trtspec.run.fit import require_fit
from trtspec.run.tokens import TextCodec
from trtspec.trtllm.engine.engine_config import read_engine
from trtspec.trtllm.engine.run.admission import (
    drafts_from_outside,
    lossy_or_refuse,
    require_off_arm,
    require_own_parameters,
)
from trtspec.trtllm.engine.run.bindings import load_bindings
from trtspec.trtllm.engine.run.checks import require_executor, require_runnable
from trtspec.trtllm.engine.run.conditions import conditions
from trtspec.trtllm.engine.run.drafters import DraftEngine, Drafter, NGramDrafter
from trtspec.trtllm.engine.run.executor import Executor
from trtspec.trtllm.engine.run.loop import Loop
from trtspec.trtllm.engine.run.request import EngineRequest, RequestMaker
from trtspec.trtllm.engine.run.rounds import Rounds
from trtspec.trtllm.engine.run.settings import (
    DRAFT,
    TARGET,
    Engines,
    executor_config,
    load_settings,
)
from trtspec.trtllm.engine.run.streams import Streams
from trtspec.trtllm.installation import Installation


class EngineRunner:
    """Runs requests on TensorRT-LLM engines; see ``trtspec.run.Runner``."""

    def __init__(
        self,
        recipe: Recipe,
        target: Path,
        draft: Path | None,
        tokenizer: Path,
        installation: Installation,
        *,
        block_reuse: bool = True,
        chat_template: str | None = None,
    ) -> None:
        """Check everything, then load the engines.

        :param target: directory of the target engine.
        :param draft: directory of the draft engine, if the method has one.
        :param block_reuse: whether the target's KV cache finds earlier prefixes again;
            drafts from outside need it.
        :param chat_template: in place of the tokenizer's own.
        :raises RunError: if the engines do not fit the recipe, or do not load.
        :raises BackendUnavailableError: if TensorRT-LLM or a GPU is missing.
        """
        self._recipe = recipe
        self._installation = installation
        self._executors: list[Executor] = []
        engines = Engines(read_engine(target), read_engine(draft) if draft else None)
        require_runnable(
            recipe,
            engines,
            installation,
            block_reuse=block_reuse,
            environment=os.environ,
        )
        self._codec = TextCodec(tokenizer, chat_template)
        self._loaded = load_settings(
            recipe, engines, installation, block_reuse=block_reuse
        )
        self._bindings = load_bindings(require_executor(installation))
        try:
            self._loop = self._load({TARGET: target, DRAFT: draft})
        except BaseException:
            self.close()
            raise

    @property
    def max_running(self) -> int:
        """Requests that run at once."""
        return self._recipe.limits.max_batch_size

    @property
    def max_input_tokens(self) -> int:
        """The longest prompt in tokens."""
        return self._recipe.limits.max_input_tokens

    @property
    def max_total_tokens(self) -> int:
        """Most tokens of prompt and output of a request."""
        return self._recipe.limits.max_total_tokens

    def encode(self, prompt: str) -> tuple[int, ...]:
        """Tokenize raw text."""
        return self._codec.encode(prompt)

    def encode_chat(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Tokenize a conversation through the chat template."""
        return self._codec.encode_chat(messages)

    def submit(self, request: Request) -> None:
        """Queue a request.

        :raises UsageError: if it does not fit, or its output would be lossy and the
            recipe does not allow that.
        """
        if not self._executors:
            raise RunError("the runner was closed", where=f"request {request.id}")
        method = self._recipe.speculation
        require_fit(request, self._recipe, self._loaded[TARGET].engine.max_draft_len)
        require_off_arm(request, method)
        require_own_parameters(request, method)
        lossy = lossy_or_refuse(request, method, self._bindings.version)
        running = EngineRequest(
            request,
            self._codec.stream(request.stop),
            self._codec.end_tokens,
            time.perf_counter(),
            lossy=lossy,
            in_rounds=request.speculate and drafts_from_outside(method),
        )
        self._loop.submit(running)

    def cancel(self, request_id: str) -> None:
        """End a request at the next step; unknown ids are ignored."""
        for running in (*self._loop.running, *self._loop.waiting):
            if running.request.id == request_id:
                running.cancelled = True

    @property
    def busy(self) -> bool:
        """Whether a request is queued or running, or a cancelled one not yet gone."""
        return bool(self._executors) and self._loop.busy

    def advance(self) -> StepResult:
        """Do one round, or wait for the next outputs."""
        return self._loop.advance() if self._executors else StepResult()

    def conditions(self) -> dict[str, object]:
        """What decides how fast this runner is."""
        return conditions(
            self._installation, self._bindings, self._recipe.speculation, self._loaded
        )

    def close(self) -> None:
        """Free the engines; also when one of them fails to close."""
        executors, self._executors = self._executors, []
        for executor in reversed(executors):
            with suppress(Exception):  # one that has died cannot close either
                executor.shutdown()

    def _load(self, directories: Mapping[str, Path | None]) -> Loop:
        executors = {}
        for role, loaded in self._loaded.items():
            directory = directories[role]
            assert directory is not None, "its config.json was read before"
            config = executor_config(self._bindings, loaded.settings)
            name = f"{role} engine"
            executors[role] = Executor(self._bindings, directory, config, name)
            self._executors.append(executors[role])
        method, target = self._recipe.speculation, executors[TARGET]
        maker = RequestMaker(self._bindings, sorted(self._codec.end_tokens))
        drafter = self._drafter(executors.get(DRAFT), maker)
        rounds = None
        if drafter is not None:
            rounds = Rounds(target, maker, drafter, self._loaded[TARGET].engine)
        drafts = rounds is None and method.method != "none"
        streams = Streams(target, maker, method if drafts else None)
        return Loop(target, streams, rounds, method, self.max_running)

    def _drafter(
        self, executor: Executor | None, maker: RequestMaker
    ) -> Drafter | None:
        """Give what drafts from outside the target engine, if the method does."""
        method = self._recipe.speculation
        if isinstance(method, NGram):
            return NGramDrafter(method)
        if not isinstance(method, DraftTarget) or executor is None:
            return None
        return DraftEngine(
            executor,
            maker,
            draft_vocabulary=self._loaded[DRAFT].engine.vocab_size,
            vocabulary=self._loaded[TARGET].engine.vocab_size,
            use_logits=method.use_draft_logits,
        )


def open_runner(
    artifact: Artifact, installation: Installation, *, block_reuse: bool = True
) -> EngineRunner:
    """Load an artifact of the engine backend; see ``EngineRunner``."""
    return EngineRunner(
        artifact.recipe,
        artifact.target,
        artifact.draft,
        artifact.tokenizer,
        installation,
        block_reuse=block_reuse,
        chat_template=artifact.chat_template,
    )

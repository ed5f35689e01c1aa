"""The engine backend's runner: an artifact's engines, loaded and ready for requests."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from trtspec.build.artifact import Artifact
from trtspec.errors import RunError
from trtspec.methods import DraftTarget, Method, NGram
from trtspec.recipe.schema import Recipe
from trtspec.run import Request, StepResult
from trtspec.run.fit import require_fit
from trtspec.run.recipe_runner import RecipeRunner
from trtspec.run.tokens import TextCodec
from trtspec.trtllm.engine.built_for import built_capability
from trtspec.trtllm.engine.engine_config import EngineConfig, read_engine
from trtspec.trtllm.engine.run.admission import (
    drafts_from_outside,
    lossy_or_refuse,
    require_off_arm,
    require_own_parameters,
    require_sampling,
)
from trtspec.trtllm.engine.run.bindings import Bindings, load_bindings
from trtspec.trtllm.engine.run.config import executor_config
from trtspec.trtllm.engine.run.drafters import DraftEngine, Drafter, NGramDrafter
from trtspec.trtllm.engine.run.executor import Executor
from trtspec.trtllm.engine.run.gate import require_executor, require_runnable
from trtspec.trtllm.engine.run.load import (
    DRAFT,
    TARGET,
    Engines,
    Loaded,
    LoadSettings,
    engine_bytes,
    engine_name,
    load_settings,
)
from trtspec.trtllm.engine.run.loop import Loop
from trtspec.trtllm.engine.run.request import EngineRequest, RequestMaker
from trtspec.trtllm.engine.run.rounds import Rounds
from trtspec.trtllm.engine.run.streams import Streams, has_metrics
from trtspec.trtllm.installation import Installation


class EngineRunner(RecipeRunner):
    """Runs requests on TensorRT-LLM engines; see ``trtspec.run.Runner``."""

    def __init__(
        self,
        recipe: Recipe,
        target: Path,
        draft: Path | None,
        tokenizer: Path,
        installation: Installation,
        *,
        chat_template: str | None = None,
        capability: str | None = None,
    ) -> None:
        """Check everything, then load the engines.

        :param target: directory of the target engine.
        :param draft: directory of the draft engine, if the method has one.
        :param chat_template: in place of the tokenizer's own.
        :param capability: compute capability of the GPUs that the engines were built
            on; None if it is not known.
        :raises RunError: if the engines do not fit the recipe, or do not load.
        :raises BackendUnavailableError: if TensorRT-LLM or a GPU is missing.
        """
        self._installation = installation
        self._executors: list[Executor] = []
        drafts = read_engine(draft) if draft else None
        engines = Engines(read_engine(target), drafts, capability)
        require_runnable(recipe, engines, installation, os.environ)
        super().__init__(recipe, TextCodec(tokenizer, chat_template))
        directories = {TARGET: target} | ({DRAFT: draft} if draft else {})
        weights = {role: engine_bytes(path) for role, path in directories.items()}
        self._loaded = load_settings(recipe, engines, installation, weights)
        self._bindings = load_bindings(require_executor(installation))
        try:
            self._loop = self._load(directories)
        except BaseException:
            self.close()
            raise

    @property
    def caches_prompts(self) -> bool:
        """Whether blocks of the target engine's KV cache are reused."""
        return self._loaded[TARGET].settings.cache.block_reuse

    def submit(self, request: Request) -> None:
        """Queue a request.

        :raises UsageError: if it does not fit, a request of its id waits or runs, or
            its output would be lossy and the recipe does not allow that.
        :raises RunError: if an engine has died, or the runner was closed.
        """
        if not self._executors:
            raise RunError("the runner was closed", where=f"request {request.id}")
        for executor in self._executors:
            executor.require_life()
        method = self._recipe.speculation
        require_fit(request, self._recipe, self._loaded[TARGET].engine.max_draft_len)
        require_sampling(request)
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
        self._loop.queue.submit(running)

    def cancel(self, request_id: str) -> None:
        """End a request at the next step; unknown ids are ignored."""
        self._loop.queue.cancel(request_id)

    @property
    def busy(self) -> bool:
        """Whether a request is queued or running, or a cancelled one not yet gone."""
        return bool(self._executors) and self._loop.busy

    def advance(self) -> StepResult:
        """Do one round, or wait for the next outputs."""
        return self._loop.step() if self._executors else StepResult()

    def conditions(self) -> dict[str, object]:
        """What decides how fast this runner is."""
        return _conditions(
            self._installation, self._bindings, self._recipe.speculation, self._loaded
        )

    def close(self) -> None:
        """Free the engines; also when one of them fails to close."""
        executors, self._executors = self._executors, []
        for executor in reversed(executors):
            with suppress(Exception):  # one that has died cannot close either
                executor.shutdown()

    def _load(self, directories: Mapping[str, Path]) -> Loop:
        executors = {}
        for role, loaded in self._loaded.items():
            config = executor_config(self._bindings, loaded.settings)
            name, path = engine_name(role), directories[role]
            executors[role] = Executor(self._bindings, path, config, name)
            self._executors.append(executors[role])
        method, target = self._recipe.speculation, executors[TARGET]
        maker = RequestMaker(self._bindings, sorted(self._codec.end_tokens))
        drafter = self._drafter(executors.get(DRAFT), maker)
        rounds = None
        if drafter is not None:
            engine = self._loaded[TARGET].engine
            rounds = Rounds(target, maker, drafter, engine, method)
        drafts = rounds is None and method.method != "none"
        streams = Streams(target, maker, method if drafts else None)
        return Loop(list(executors.values()), streams, rounds, self.max_running)

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


def open_runner(artifact: Artifact, installation: Installation) -> EngineRunner:
    """Load an artifact of the engine backend; see ``EngineRunner``."""
    return EngineRunner(
        artifact.recipe,
        artifact.target,
        artifact.draft,
        artifact.tokenizer,
        installation,
        chat_template=artifact.chat_template,
        capability=built_capability(artifact.manifest),
    )


def _conditions(
    installation: Installation,
    bindings: Bindings,
    method: Method,
    loaded: Mapping[str, Loaded],
) -> dict[str, object]:
    """Describe a runner.

    :param loaded: its engines by role: target, draft.
    """
    outside, metrics = drafts_from_outside(method), has_metrics(bindings)
    return {
        "backend": "tensorrt",
        "tensorrt_llm": str(installation.version),
        "tensorrt": installation.tensorrt,
        "cuda": installation.cuda,
        "driver": installation.driver,
        "gpus": [gpu.name for gpu in installation.gpus],
        "engines": {role: _engine_conditions(*one) for role, one in loaded.items()},
        "worker_processes": any(one.settings.worker for one in loaded.values()),
        "kv_cache_block_reuse": loaded[TARGET].settings.cache.block_reuse,
        "acceptance_counted_by": "trtspec" if outside else "TensorRT-LLM",
        "drafted_tokens_known": outside or metrics or method.method == "none",
    }


def _engine_conditions(
    engine: EngineConfig, settings: LoadSettings
) -> dict[str, object]:
    """Say how an engine was built and loaded; lengths in tokens."""
    return {
        "speculative_decoding_mode": engine.mode,
        "max_draft_len": engine.max_draft_len,
        "max_batch_size": engine.max_batch_size,
        "max_input_len": engine.max_input_len,
        "max_seq_len": engine.max_seq_len,
        "max_num_tokens": engine.max_num_tokens,
        "quantization": engine.quant,
        "dtype": engine.dtype,
        "devices": list(settings.devices),
        "kv_cache": {
            "quantization": engine.kv_cache_quant,
            "free_gpu_memory_fraction": settings.cache.fraction,
            "max_tokens": settings.cache.max_tokens,
            "block_reuse": settings.cache.block_reuse,
        },
    }

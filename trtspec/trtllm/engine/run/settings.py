"""How each engine is loaded: its devices, its KV cache, where it runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from trtspec.methods import DraftTarget, Method
from trtspec.recipe.schema import Recipe
from trtspec.trtllm import facts
from trtspec.trtllm.engine.engine_config import EngineConfig
from trtspec.trtllm.engine.run.bindings import Bindings
from trtspec.trtllm.engine.run.decoding import decoding_config
from trtspec.trtllm.installation import Installation

TARGET_SHARE = 0.8
"""Part of the KV cache's memory that the target engine gets beside a draft engine."""
_LARGEST_BLOCK = 64
"""Tokens of a block of the KV cache, at most."""
TARGET, DRAFT = "target", "draft"
"""The roles of engines."""
GATHER_LOGITS = "gather_generation_logits"


class Engines(NamedTuple):
    """What the engines of an artifact say of themselves."""

    target: EngineConfig
    draft: EngineConfig | None = None


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """An engine's KV cache.

    :param fraction: part of the device memory that is free once the engine is loaded.
    :param block_reuse: whether blocks of earlier requests are kept and found again.
    :param max_tokens: most tokens in it; None for as many as the fraction holds.
    """

    fraction: float
    block_reuse: bool = True
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class LoadSettings:
    """Everything that decides how one engine is loaded.

    :param devices: GPU of each rank.
    :param worker: executable of the worker processes; None to run in this process.
    :param gather_logits: have generation logits although the build did not ask.
    """

    batch: int
    cache: CacheSettings
    devices: tuple[int, ...]
    worker: Path | None = None
    method: Method | None = None
    gather_logits: bool = False


class Loaded(NamedTuple):
    """An engine and how it is loaded."""

    engine: EngineConfig
    settings: LoadSettings


def target_cache(recipe: Recipe, *, shared: bool, block_reuse: bool) -> CacheSettings:
    """Size the target engine's KV cache.

    :param shared: whether a draft engine uses the same GPUs.
    """
    fraction = recipe.limits.kv_cache_fraction
    return CacheSettings(fraction * TARGET_SHARE if shared else fraction, block_reuse)


def draft_cache(recipe: Recipe) -> CacheSettings:
    """Size the draft engine's KV cache: the rest, and never more than it can use.

    Both fractions are of the memory that is free when each engine takes its cache, so
    whatever the order, they cannot ask for more than ``limits.kv_cache_fraction``.
    """
    limits = recipe.limits
    longest = limits.max_total_tokens + recipe.speculation.longest_draft
    blocks = -(-longest // _LARGEST_BLOCK) + 1
    return CacheSettings(
        limits.kv_cache_fraction * (1 - TARGET_SHARE),
        max_tokens=limits.max_batch_size * blocks * _LARGEST_BLOCK,
    )


def load_settings(
    recipe: Recipe,
    engines: Engines,
    installation: Installation,
    *,
    block_reuse: bool,
) -> dict[str, Loaded]:
    """Say how each engine is loaded, by its role, in the order of loading.

    The draft engine comes first: its cache is bounded. Both use the first GPUs: in a
    round they never work at the same time, so that a GPU more for the drafter would
    bring nothing but memory. Several ranks, or two engines in one process, need worker
    processes (tensorrt_llm/runtime/model_runner_cpp.py).
    """
    target, draft = engines
    shared = draft is not None
    worker = installation.worker if shared or target.tp_size > 1 else None
    gather = _gathers_logits(recipe.speculation, installation)

    def load(
        engine: EngineConfig, cache: CacheSettings, method: Method | None
    ) -> Loaded:
        devices = tuple(range(engine.tp_size))
        batch = recipe.limits.max_batch_size
        settings = LoadSettings(batch, cache, devices, worker, method, gather)
        return Loaded(engine, settings)

    cache = target_cache(recipe, shared=shared, block_reuse=block_reuse)
    found = {} if draft is None else {DRAFT: load(draft, draft_cache(recipe), None)}
    return found | {TARGET: load(target, cache, recipe.speculation)}


def _gathers_logits(method: Method, installation: Installation) -> bool:
    """Whether generation logits are asked for at load, as late versions can."""
    assert installation.version is not None, "it was required before"
    by_logits = isinstance(method, DraftTarget) and method.use_draft_logits
    known = facts.fields("ExecutorConfig", installation.version)
    return by_logits and GATHER_LOGITS in known


def executor_config(bindings: Bindings, settings: LoadSettings) -> Any:
    """Say the settings in the executor's words."""
    more: dict[str, Any] = {}
    if settings.method is not None:
        decoding = decoding_config(bindings, settings.method)
        more = {} if decoding is None else {"decoding_config": decoding}
    if settings.gather_logits:
        more[GATHER_LOGITS] = True
    return bindings.make(
        "ExecutorConfig",
        max_beam_width=1,
        max_batch_size=settings.batch,
        kv_cache_config=_cache_config(bindings, settings.cache),
        parallel_config=_parallel_config(bindings, settings),
        **more,
    )


def _cache_config(bindings: Bindings, cache: CacheSettings) -> Any:
    most = {} if cache.max_tokens is None else {"max_tokens": cache.max_tokens}
    return bindings.make(
        "KvCacheConfig",
        enable_block_reuse=cache.block_reuse,
        free_gpu_memory_fraction=cache.fraction,
        **most,
    )


def _parallel_config(bindings: Bindings, settings: LoadSettings) -> Any:
    modes = bindings.module.CommunicationMode
    more: dict[str, Any] = {"communication_mode": modes.LEADER}
    if settings.worker is not None:
        more["communication_mode"] = modes.ORCHESTRATOR
        more["orchestrator_config"] = bindings.make(
            "OrchestratorConfig",
            is_orchestrator=True,
            worker_executable_path=str(settings.worker),
        )
    return bindings.make(
        "ParallelConfig",
        communication_type=bindings.module.CommunicationType.MPI,
        device_ids=list(settings.devices),
        **more,
    )

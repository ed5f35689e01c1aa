"""How each engine is loaded: its devices, its KV cache, where it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from trtspec.check.memory.for_recipe import ENGINE_DRAFT_SHARE
from trtspec.gpus import Gpu
from trtspec.methods import DraftTarget, Method
from trtspec.recipe.schema import Limits, Recipe
from trtspec.trtllm import facts
from trtspec.trtllm.engine.engine_config import EngineConfig
from trtspec.trtllm.engine.run.admission import drafts_from_outside
from trtspec.trtllm.installation import Installation

TARGET, DRAFT = "target", "draft"
"""The roles of engines."""
SMALLEST_FRACTION = 0.001
"""The runtime takes no fraction of 0."""
GATHER_LOGITS = "gather_generation_logits"
_LARGEST_BLOCK = 64
"""Tokens of a block of the KV cache, at most."""


class Engines(NamedTuple):
    """What the engines of an artifact say of themselves.

    :param capability: compute capability of the GPUs that they were built on, which
        they do not say themselves; None if it is not known.
    """

    target: EngineConfig
    draft: EngineConfig | None = None
    capability: str | None = None


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """An engine's KV cache.

    :param fraction: part of the device memory that is free once the engine is loaded.
    :param block_reuse: whether blocks of earlier requests are kept and found again.
    :param max_tokens: most tokens in it; None for as many as the fraction holds.
    """

    fraction: float
    block_reuse: bool
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


def engine_name(role: str) -> str:
    """Name an engine in messages."""
    return f"{role} engine"


def engine_bytes(directory: Path) -> int:
    """Bytes of the largest rank of an engine: about what a GPU holds of its weights.

    They may lie beside the rank's file (``rank0_managed_weights.safetensors``).
    """
    ranks = [path.stem for path in directory.glob("rank*.engine")]
    files = [directory.glob(f"{rank}[._]*") for rank in ranks]
    return max((sum(f.stat().st_size for f in found) for found in files), default=0)


def target_cache(recipe: Recipe, *, shared: bool) -> CacheSettings:
    """Size the target engine's KV cache.

    Blocks are reused only where drafts come from outside, whose rounds need it: else
    a prompt that ran before would be found again, and its prefill cost nothing.

    :param shared: whether a draft engine has taken its part of the memory before.
    """
    fraction = recipe.limits.kv_cache_fraction
    share = ENGINE_DRAFT_SHARE if shared else 0.0
    reuse = drafts_from_outside(recipe.speculation)
    # of what is free behind a draft engine that took its whole share; so both never
    # have more than ``limits.kv_cache_fraction`` of what is free beside the weights
    return CacheSettings(fraction * (1 - share) / (1 - fraction * share), reuse)


def draft_cache(
    recipe: Recipe, gpus: Sequence[Gpu], weights: Mapping[str, int]
) -> CacheSettings:
    """Size the draft engine's KV cache: what it can use, within its share.

    It is loaded first, when the target engine's weights are not there yet. Its
    fraction is of the memory beside those, as far as sizes of GPUs and engines are
    known: a GPU is taken to be ours alone, an engine's file to be its weights.

    :param weights: bytes per GPU, by role.
    """
    limits = recipe.limits
    free = min((gpu.memory_bytes for gpu in gpus), default=0) - weights.get(DRAFT, 0)
    left = max(0.0, 1 - weights.get(TARGET, 0) / free) if free > 0 else 1.0
    fraction = limits.kv_cache_fraction * ENGINE_DRAFT_SHARE * left
    most = _most_tokens(limits, recipe.speculation)
    return CacheSettings(max(fraction, SMALLEST_FRACTION), True, max_tokens=most)


def _most_tokens(limits: Limits, method: Method) -> int:
    longest = limits.max_total_tokens + method.longest_draft
    blocks = -(-longest // _LARGEST_BLOCK) + 1
    return limits.max_batch_size * blocks * _LARGEST_BLOCK


def load_settings(
    recipe: Recipe,
    engines: Engines,
    installation: Installation,
    weights: Mapping[str, int],
) -> dict[str, Loaded]:
    """Say how each engine is loaded, by its role, in the order of loading.

    The draft engine comes first: its cache is bounded. Both use the first GPUs: in a
    round they never work at the same time, so that a GPU more for the drafter would
    bring nothing but memory. Several ranks, or two engines in one process, need worker
    processes (tensorrt_llm/runtime/model_runner_cpp.py).

    :param weights: bytes per GPU, by role.
    """
    target, draft = engines.target, engines.draft
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

    found = {}
    if draft is not None:
        cache = draft_cache(recipe, installation.gpus, weights)
        found[DRAFT] = load(draft, cache, None)
    cache = target_cache(recipe, shared=shared)
    return found | {TARGET: load(target, cache, recipe.speculation)}


def _gathers_logits(method: Method, installation: Installation) -> bool:
    """Whether generation logits are asked for at load, as late versions can."""
    assert installation.version is not None, "it was required before"
    by_logits = isinstance(method, DraftTarget) and method.use_draft_logits
    known = facts.fields("ExecutorConfig", installation.version)
    return by_logits and GATHER_LOGITS in known

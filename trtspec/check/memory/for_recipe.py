"""How much memory a recipe takes on a kind of GPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from packaging.version import Version

from trtspec.check.memory.cache import Cache, layer_bytes, model_cache
from trtspec.check.memory.cache_types import draft_cache_type, target_cache_type
from trtspec.check.memory.forward import forward_tokens
from trtspec.check.memory.parallel import draft_parallel, target_parallel
from trtspec.check.memory.plan import MemoryPlan, Part
from trtspec.check.memory.reserve import ASSUMPTION, reserve_of
from trtspec.check.memory.weights import model_weights, weights_per_gpu
from trtspec.gpu_kinds import GpuKind
from trtspec.methods import DraftTarget, Mtp, NoSpeculation
from trtspec.models.drafter import DrafterInfo
from trtspec.models.head_cache import HeadCache
from trtspec.models.info import ModelInfo
from trtspec.recipe.schema import Recipe

_ONE_LAYER_SINCE = Version("1.3.0rc1")
"""From here on MTP caches one layer, not one per draft token
(tensorrt_llm/_torch/speculative/utils.py, ``get_num_spec_layers``)."""

ENGINE_DRAFT_SHARE = 0.2
"""Most of the KV caches' memory that an engine of its own for the draft model gets:
what drafts inside the target's engine shares its cache."""


@dataclass(frozen=True, slots=True)
class Models:
    """What is known of a recipe's models.

    :param draft: of a method with a draft model.
    :param drafter: of a method with trained parts instead.
    :param head: what the drafter's layers cache; None if it has none, or does not tell.
    """

    target: ModelInfo
    draft: ModelInfo | None = None
    drafter: DrafterInfo | None = None
    head: HeadCache | None = None


def plan_for(
    recipe: Recipe, models: Models, gpu: GpuKind, version: Version | None = None
) -> MemoryPlan:
    """Plan the memory of the fullest GPU; pure, no file is looked at.

    :param version: of TensorRT-LLM; None if it is not known.
    """
    parallel = target_parallel(recipe)
    method, limits = recipe.speculation, recipe.limits
    most = _cache_config(recipe).get("max_tokens")
    budget = forward_tokens(recipe, version)
    return MemoryPlan(
        gpu=gpu.name,
        gpus=parallel.gpus,
        memory=gpu.memory_bytes,
        parts=tuple(_parts(recipe, models, version)),
        reserve=reserve_of(recipe, models.target, budget).total,
        fraction=limits.kv_cache_fraction,
        request_tokens=limits.max_total_tokens + method.longest_draft,
        max_batch_size=limits.max_batch_size,
        step_tokens=method.verified_tokens,
        token_budget=budget,
        most_tokens=most if type(most) is int and most > 0 else None,
        replicas=parallel.replicas,
        draft_share=ENGINE_DRAFT_SHARE if _has_two_engines(recipe) else None,
        assumptions=tuple(_assumptions(recipe, models)),
    )


def without_speculation(recipe: Recipe) -> Recipe:
    """Give the off arm of a recipe."""
    return recipe.model_copy(update={"speculation": NoSpeculation(method="none")})


def _has_two_engines(recipe: Recipe) -> bool:
    method = recipe.speculation
    return recipe.backend == "tensorrt" and isinstance(method, DraftTarget)


def _parts(recipe: Recipe, models: Models, version: Version | None) -> Iterator[Part]:
    target, parallel = models.target, target_parallel(recipe)
    dtype, kind = recipe.target.dtype, target_cache_type(recipe, target)
    weights = model_weights(target, dtype, recipe.target.quantization)
    windows = "max_attention_window" in _cache_config(recipe)
    yield Part(
        "target",
        weights_per_gpu(
            weights, parallel, whole_embedding=recipe.backend == "tensorrt"
        ),
        model_cache(target, kind, parallel, keeps_windows=windows),
        weights.how,
        kind,
    )
    if isinstance(recipe.speculation, NoSpeculation):
        return
    if models.draft is not None:
        yield _draft(recipe, models.draft)
    if models.drafter is not None:
        yield _drafter(recipe, models.drafter, models.head, kind)
    if isinstance(recipe.speculation, Mtp) and models.drafter is None:
        yield _next_token_heads(recipe.speculation, recipe, target, kind, version)


def _draft(recipe: Recipe, draft: ModelInfo) -> Part:
    parallel, kind = draft_parallel(recipe), draft_cache_type(recipe, draft)
    method = recipe.speculation
    own = method.quantization if isinstance(method, DraftTarget) else "none"
    weights = model_weights(draft, recipe.target.dtype, own)
    whole = recipe.backend == "tensorrt"
    return Part(
        "draft model",
        weights_per_gpu(weights, parallel, whole_embedding=whole),
        model_cache(draft, kind, parallel),
        weights.how,
        kind,
    )


def _drafter(
    recipe: Recipe, drafter: DrafterInfo, head: HeadCache | None, kind: str
) -> Part:
    parallel = draft_parallel(recipe)
    weights = -(-drafter.weight_bytes // parallel.tensor)
    if head is None:
        return Part("drafter", weights, how="as stored")
    each = layer_bytes(head.kv_heads, head.head_size, kind, parallel)
    return Part("drafter", weights, Cache(head.layers * each), "as stored", kind)


def _next_token_heads(
    method: Mtp, recipe: Recipe, target: ModelInfo, kind: str, version: Version | None
) -> Part:
    """The heads' weights are among the target's; their layers have a cache of theirs.

    As many as are drafted, in releases where one head has a cache per draft token.
    """
    one = version is not None and version >= _ONE_LAYER_SINCE and not method.vanilla
    lengths = method.draft_length
    longest = lengths if isinstance(lengths, int) else max(lengths.values())
    layers = 1 if one else longest
    parallel = replace(target_parallel(recipe), pipeline=1)
    cache = model_cache(target, kind, parallel, layers=layers)
    return Part("next-token heads", 0, cache, "among the target's", kind)


def _assumptions(recipe: Recipe, models: Models) -> Iterator[str]:
    yield ASSUMPTION
    target, drafter = models.target, models.drafter
    if target.sliding_window and "max_attention_window" not in _cache_config(recipe):
        yield (
            "layers with a sliding window are counted whole: that a release cuts "
            "their cache is not established"
        )
    if drafter is not None and drafter.layers and models.head is None:
        yield "the drafter's configuration does not tell its cache: not counted"
    if target_parallel(recipe).attention_dp:
        yield (
            "attention_dp: attention weights, whole on every GPU, are counted as if "
            "they were divided"
        )


def _cache_config(recipe: Recipe) -> Mapping[str, Any]:
    """Give what the recipe says of the cache in TensorRT-LLM's own words."""
    if recipe.backend != "pytorch" or recipe.pytorch is None:
        return {}
    given: object = recipe.pytorch.llm_args.get("kv_cache_config")
    return given if isinstance(given, Mapping) else {}

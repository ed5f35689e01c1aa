"""Which type the KV caches of a recipe have."""

from __future__ import annotations

from trtspec.check.memory.cache import VALUE_BITS
from trtspec.methods import DraftTarget
from trtspec.models.info import ModelInfo
from trtspec.recipe.schema import Recipe

_QUANTIZED_TOO = ("fp8", "nvfp4")
"""Weights beside which engines cache in FP8, unless the recipe says otherwise."""


def target_cache_type(recipe: Recipe, target: ModelInfo | None) -> str:
    """Give the type of the target's cache.

    What the recipe asks for; else what the checkpoint was quantized for, or, on
    engines, what goes with the quantization; else the type of the weights.

    :param target: None if nothing is known of it; it then counts as not quantized.
    """
    if recipe.backend == "tensorrt":
        return _on_engines(recipe, recipe.target.quantization)
    return _on_pytorch(recipe, target)


def draft_cache_type(recipe: Recipe, draft: ModelInfo | None) -> str:
    """Give the type of the draft model's cache; a type that is asked for is both's."""
    method = recipe.speculation
    if recipe.backend == "tensorrt":
        own = method.quantization if isinstance(method, DraftTarget) else "none"
        return _on_engines(recipe, own)
    return _on_pytorch(recipe, draft)


def engine_cache(recipe: Recipe, weights: str) -> str:
    """Give the type that an engine's cache is quantized to; empty if it is not.

    :param weights: their quantization, a recipe's word.
    """
    asked = recipe.engine.kv_cache if recipe.engine else "auto"
    if asked != "auto":
        return asked
    return "fp8" if weights in _QUANTIZED_TOO else ""


def _on_engines(recipe: Recipe, weights: str) -> str:
    return engine_cache(recipe, weights) or recipe.target.dtype


def _on_pytorch(recipe: Recipe, model: ModelInfo | None) -> str:
    asked = recipe.pytorch.kv_cache if recipe.pytorch else "auto"
    if asked != "auto":
        return asked
    published = model.published_kv_cache if model is not None else None
    return published if published in VALUE_BITS else recipe.target.dtype

"""Which type the KV caches of a recipe have."""

from __future__ import annotations

from trtspec.check.memory.cache import VALUE_BITS
from trtspec.methods import DraftTarget
from trtspec.models.info import ModelInfo
from trtspec.recipe.schema import Recipe

_QUANTIZED_TOO = ("fp8", "nvfp4")
"""Weights beside which engines cache in FP8, unless the recipe says otherwise."""


def target_cache_type(recipe: Recipe, target: ModelInfo) -> str:
    """Give the type of the target's cache.

    What the recipe asks for; else what the checkpoint was quantized for, or, on
    engines, what goes with the quantization; else the type of the weights.
    """
    if recipe.backend == "tensorrt":
        return _on_engines(recipe, recipe.target.quantization)
    return _on_pytorch(recipe, target)


def draft_cache_type(recipe: Recipe, draft: ModelInfo) -> str:
    """Give the type of the draft model's cache; a type that is asked for is both's."""
    method = recipe.speculation
    if recipe.backend == "tensorrt":
        own = method.quantization if isinstance(method, DraftTarget) else "none"
        return _on_engines(recipe, own)
    return _on_pytorch(recipe, draft)


def _on_engines(recipe: Recipe, quantization: str) -> str:
    asked = recipe.engine.kv_cache if recipe.engine else "auto"
    if asked != "auto":
        return asked
    return "fp8" if quantization in _QUANTIZED_TOO else recipe.target.dtype


def _on_pytorch(recipe: Recipe, model: ModelInfo) -> str:
    asked = recipe.pytorch.kv_cache if recipe.pytorch else "auto"
    if asked != "auto":
        return asked
    published = model.published_kv_cache
    return published if published in VALUE_BITS else recipe.target.dtype

"""Which model goes through quantize.py, and how it is called."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.build.command_line import slot
from trtspec.check.memory.cache_types import engine_cache
from trtspec.methods import DraftTarget
from trtspec.recipe.schema import Recipe
from trtspec.trtllm.engine.sizes import options
from trtspec.trtllm.engine.toolchain import Argument

CALIBRATION = "calibration"
"""The place that stands for a calibration dataset which is a folder here."""

_KEEP_FP8_CACHE = ("fp8", "nvfp4")


def is_quantized(recipe: Recipe) -> bool:
    """Whether the target goes through quantize.py, for its weights or KV cache."""
    return recipe.target.quantization != "none" or bool(kv_cache_of(recipe))


def draft_is_quantized(recipe: Recipe, method: DraftTarget) -> bool:
    """Whether the draft model goes through quantize.py."""
    return method.quantization != "none" or bool(draft_kv_cache_of(recipe, method))


def kv_cache_of(recipe: Recipe) -> str:
    """Give the type that the target's KV cache is quantized to; empty for none."""
    return engine_cache(recipe, recipe.target.quantization)


def draft_kv_cache_of(recipe: Recipe, method: DraftTarget) -> str:
    """Give the type that the draft model's KV cache is quantized to."""
    return engine_cache(recipe, method.quantization)


def keeps_paged_context(weights: str, kv_cache: str) -> bool:
    """Whether the builder leaves paged context FMHA on (tensorrt_llm/builder.py).

    :param weights: their quantization.
    :param kv_cache: type that the KV cache is quantized to; empty if it is not.
    """
    return not kv_cache or (kv_cache == "fp8" and weights in _KEEP_FP8_CACHE)


def described(recipe: Recipe) -> str:
    """Say in words what the target is quantized to."""
    kv_cache = kv_cache_of(recipe)
    weights = recipe.target.quantization
    return f"weights {weights}" + (f", KV cache {kv_cache}" if kv_cache else "")


def quantize_arguments(
    recipe: Recipe, quantization: str, *, local_data: bool
) -> Iterator[Argument]:
    """Give the arguments of quantize.py that say what becomes of weights and cache.

    :param quantization: of this model's weights.
    :param local_data: the calibration dataset is a folder on this machine.
    """
    yield from ("--qformat", "full_prec" if quantization == "none" else quantization)
    if kv_cache := engine_cache(recipe, quantization):
        yield from ("--kv_cache_dtype", kv_cache)
    chosen = options(recipe)
    if chosen.calibration_dataset:
        data = slot(CALIBRATION) if local_data else chosen.calibration_dataset
        yield from ("--calib_dataset", data)
    if chosen.calibration_samples:
        yield from ("--calib_size", chosen.calibration_samples)

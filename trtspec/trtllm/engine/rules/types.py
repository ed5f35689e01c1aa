"""Which types the weights and the KV cache of each model have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trtspec.methods import DraftTarget
from trtspec.recipe import Recipe
from trtspec.trtllm.engine.quantization import draft_kv_cache_of, kv_cache_of


class ModelTypes(NamedTuple):
    """The types of one model.

    :ivar section: of the recipe, that names the model.
    :ivar weights: their quantization.
    :ivar cache: type that the KV cache is quantized to; empty if it is not.
    """

    section: str
    weights: str
    cache: str


def types_of(recipe: Recipe) -> Iterator[ModelTypes]:
    """Give the types of the target, and of a draft model."""
    yield ModelTypes("target", recipe.target.quantization, kv_cache_of(recipe))
    method = recipe.speculation
    if isinstance(method, DraftTarget):
        cache = draft_kv_cache_of(recipe, method)
        yield ModelTypes("speculation", method.quantization, cache)

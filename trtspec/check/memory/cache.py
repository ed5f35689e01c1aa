"""How many bytes of KV cache a token takes on one GPU."""

from __future__ import annotations

from dataclasses import dataclass

from trtspec.check.memory.parallel import Parallel
from trtspec.models.info import ModelShape

VALUE_BITS = {
    "float32": 32.0,
    "bfloat16": 16.0,
    "float16": 16.0,
    "fp8": 8.0,
    "int8": 8.0,
    # 16 values of 4 bits share a scale of 8
    "nvfp4": 4.5,
}
"""Bits of one cached value, its share of a scale included."""


@dataclass(frozen=True, slots=True)
class Cache:
    """KV cache of one model on one GPU, in bytes.

    :param whole: per token, of the layers that keep every token.
    :param windowed: per token, of the layers that keep the last ``window``.
    """

    whole: int = 0
    windowed: int = 0
    window: int = 0

    @property
    def per_token(self) -> int:
        """Bytes of one token, in all layers."""
        return self.whole + self.windowed

    def of_request(self, tokens: int) -> int:
        """Bytes of a request of so many tokens."""
        return self.whole * tokens + self.windowed * min(tokens, self.window)


def layer_bytes(
    kv_heads: int,
    head_size: int,
    dtype: str,
    parallel: Parallel,
    latent: int | None = None,
) -> int:
    """Bytes per token of one layer on one GPU.

    Keys and values of the GPU's heads; a GPU has at least one, so that heads are
    repeated where more GPUs share them than there are. Multi-head latent attention
    caches one latent and one part with positions instead, whole on every GPU.

    :param dtype: type of the cache, a key of ``VALUE_BITS``.
    :param latent: values of latent attention (MLA); None for any other.
    """
    heads = -(-kv_heads // parallel.cache_shares)
    values = latent if latent is not None else 2 * heads * head_size
    return int(values * VALUE_BITS[dtype]) // 8


def model_cache(
    model: ModelShape,
    dtype: str,
    parallel: Parallel,
    *,
    layers: int | None = None,
    keeps_windows: bool = False,
) -> Cache:
    """Size the cache of a model.

    :param dtype: type of the cache.
    :param layers: in place of the model's own, such as of its next-token heads.
    :param keeps_windows: whether layers with a sliding window keep only that; else
        they are counted like all others.
    """
    each = layer_bytes(
        model.kv_heads, model.head_size, dtype, parallel, model.latent_size
    )
    count = model.cached_layers if layers is None else layers
    sliding = model.windowed_layers if keeps_windows and layers is None else 0
    stages = parallel.pipeline
    short, whole = -(-sliding // stages), -(-(count - sliding) // stages)
    return Cache(whole * each, short * each, model.sliding_window or 0)

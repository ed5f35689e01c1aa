"""What does a Llama say behind a text? In NumPy: a process that serves needs no torch.

It shares no code with the reference engine, so that whoever compares the two compares
two computations.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.standins.checkpoint import read_json, read_tensors
from tests.standins.weights import Tensor

Array = Any
Cache = list[tuple[Array, Array]]
"""Keys and values [tokens, heads, size] of each layer."""
THETA = 10_000.0
"""Base of the rotary embedding where a configuration names none."""


def is_plain_llama(config: dict[str, Any]) -> bool:
    """Whether a configuration asks for nothing that ``Llama`` does not compute."""
    rotary = config.get("rope_parameters") or {}
    return (
        config["model_type"] == "llama"
        and not config.get("rope_scaling")
        and rotary.get("rope_type", "default") == "default"
        and not config.get("attention_bias")
        and not config.get("mlp_bias")
    )


class Llama:
    """Weights in float32, and what was computed for each text so far."""

    def __init__(self, config: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        """Read weights of any type.

        :raises ValueError: the configuration is not that of a plain Llama.
        """
        if not is_plain_llama(config):
            raise ValueError("this is not a plain Llama")
        self._weights = {name: _array(tensor) for name, tensor in tensors.items()}
        self._heads = config["num_attention_heads"]
        self._kv_heads = config.get("num_key_value_heads") or self._heads
        self._size = config.get("head_dim") or config["hidden_size"] // self._heads
        self._epsilon = config.get("rms_norm_eps", 1e-6)
        self._layers = config["num_hidden_layers"]
        rotary = config.get("rope_parameters") or config
        exponents = np.arange(0, self._size, 2) / self._size
        theta = rotary.get("rope_theta") or THETA
        self._frequencies = (theta**-exponents).astype(np.float32)
        nothing = np.zeros((0, self._kv_heads, self._size), np.float32)
        self._known: dict[tuple[int, ...], tuple[Cache, Array]] = {
            (): ([(nothing, nothing)] * self._layers, np.zeros(0))
        }

    @classmethod
    def open(cls, folder: Path) -> Llama:
        """Read a Hugging Face checkpoint."""
        return cls(read_json(folder / "config.json"), read_tensors(folder))

    def logits(self, text: Sequence[int]) -> Array:
        """Logits [vocabulary] behind a text."""
        text = tuple(text)
        if text not in self._known:
            size = len(text) - 1
            while text[:size] not in self._known:
                size -= 1
            cache = list(self._known[text[:size]][0])
            self._known[text] = cache, self._read(cache, text[size:])
        return self._known[text][1]

    def _read(self, cache: Cache, tokens: Sequence[int]) -> Array:
        """Extend a cache; the logits after the last token."""
        hidden = self._weights["model.embed_tokens.weight"][list(tokens)]
        for layer in range(self._layers):
            name = f"model.layers.{layer}"
            normed = self._norm(hidden, f"{name}.input_layernorm")
            hidden = hidden + self._attend(cache, layer, f"{name}.self_attn", normed)
            normed = self._norm(hidden, f"{name}.post_attention_layernorm")
            hidden = hidden + self._feed(f"{name}.mlp", normed)
        last = self._norm(hidden[-1:], "model.norm")
        tied = "lm_head.weight" not in self._weights
        return self._project(last, "model.embed_tokens" if tied else "lm_head")[0]

    def _attend(self, cache: Cache, layer: int, name: str, hidden: Array) -> Array:
        """Attention of new tokens [n, hidden] over the cache and one another."""
        new, size = len(hidden), self._size
        query, key, value = (
            self._project(hidden, f"{name}.{part}_proj").reshape(new, -1, size)
            for part in "qkv"
        )
        old_keys, old_values = cache[layer]
        positions = len(old_keys) + np.arange(new)
        keys = np.concatenate([old_keys, self._turned(key, positions)])
        values = np.concatenate([old_values, value])
        cache[layer] = keys, values
        # a group of query heads shares one head of keys and values
        groups = self._turned(query, positions).reshape(new, self._kv_heads, -1, size)
        scores = np.einsum("ngsd,mgd->gsnm", groups, keys) / np.float32(size**0.5)
        later = np.arange(len(keys)) > positions[:, None]
        scores = np.where(later, -np.inf, scores)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        mixed = np.einsum("gsnm,mgd->ngsd", weights, values).reshape(new, -1)
        return self._project(mixed, f"{name}.o_proj")

    def _feed(self, name: str, hidden: Array) -> Array:
        gate = self._project(hidden, f"{name}.gate_proj")
        gated = gate / (1 + np.exp(-gate))
        return self._project(
            gated * self._project(hidden, f"{name}.up_proj"), f"{name}.down_proj"
        )

    def _turned(self, vectors: Array, positions: Array) -> Array:
        """Rotary embedding of [n, heads, size], as transformers pairs the halves."""
        angles = positions[:, None, None].astype(np.float32) * self._frequencies
        cosine, sine = np.cos(angles), np.sin(angles)
        first, second = np.split(vectors, 2, axis=-1)
        return np.concatenate(
            [first * cosine - second * sine, second * cosine + first * sine], axis=-1
        )

    def _norm(self, hidden: Array, name: str) -> Array:
        mean = np.square(hidden).mean(-1, keepdims=True)
        return hidden / np.sqrt(mean + self._epsilon) * self._weights[f"{name}.weight"]

    def _project(self, hidden: Array, name: str) -> Array:
        return hidden @ self._weights[f"{name}.weight"].T


def _array(tensor: Tensor) -> Array:
    wide = tensor.cast("float32")
    return np.frombuffer(wide.data, np.float32).reshape(wide.shape)

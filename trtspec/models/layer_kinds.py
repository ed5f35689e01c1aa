"""Of which kind each layer of a model is, where its configuration has no layer_types.

Configurations on the hub are older than that key, or leave it to the default of their
class. The rules are those of transformers 5 (models/*/configuration_*.py of the
families named here), in whose words the kinds are given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FULL, SLIDING, RECURRENT = "full_attention", "sliding_attention", "linear_attention"

UNCACHED = frozenset(
    {RECURRENT, "linear", "mamba", "mamba2", "recurrent", "conv", "moe", "mlp"}
)
"""Kinds of layers that keep nothing per token: a state of fixed size, or none.

Layers of any other kind count as attention, known or not: a cache that is planned too
large does less harm than one that is planned too small.
"""

_MOST_LAYERS = 10_000
"""No model has more; a damaged configuration may say so."""

_LETTERS = {"M": RECURRENT, "*": FULL, "E": "moe", "-": "mlp"}
"""Nemotron-H's ``hybrid_override_pattern``, a letter per layer."""

_BLOCKS = {"attention": SLIDING, "recurrent": RECURRENT}
"""RecurrentGemma's ``block_types``; its attention looks back a window only."""

_WHOLE_EVERY = {"qwen3_next": 4, "qwen3_5_text": 4, "qwen3_5_moe_text": 4}
"""Family → every so many layers have attention, unless the configuration says."""

_SLIDING_BUT_EVERY = {"gemma2": 2, "gemma3": 6, "gemma3_text": 6, "cohere2": 4}
"""Family → every so many layers see all, unless the configuration says."""


def implied_kinds(config: Mapping[str, Any], layers: int) -> tuple[str, ...]:
    """Give the kind of each layer as far as other keys tell; empty if none does.

    :param config: of the text part.
    :param layers: how many there are.
    """
    if layers > _MOST_LAYERS:
        return ()
    return _listed(config, layers) or _by_rule(config, layers)


def _listed(config: Mapping[str, Any], layers: int) -> tuple[str, ...]:
    """Give kinds that are listed, under other names than ``layer_types``."""
    if isinstance(named := config.get("layers_block_type"), list):
        return tuple(map(str, named))
    if isinstance(letters := config.get("hybrid_override_pattern"), str):
        return tuple(_LETTERS.get(letter, FULL) for letter in letters)
    if isinstance(blocks := config.get("block_types"), list) and blocks:
        kinds = [_BLOCKS.get(str(block), FULL) for block in blocks]
        return tuple(kinds[number % len(kinds)] for number in range(layers))
    if linear := _ints(_mapping(config, "linear_attn_config").get("kda_layers")):
        return _some(layers, {number - 1 for number in linear}, RECURRENT, FULL)
    return ()


def _by_rule(config: Mapping[str, Any], layers: int) -> tuple[str, ...]:
    """Give kinds that alternate, by a key or by the default of the family."""
    family = str(config.get("model_type"))
    if family == "bamba":
        attending = set(_ints(config.get("attn_layer_indices")))
        return _some(layers, attending, FULL, RECURRENT)
    if family == "jamba":
        period = _count(config, "attn_layer_period", 8)
        offset = config.get("attn_layer_offset", 4)
        attending = {n for n in range(layers) if n % period == offset}
        return _some(layers, attending, FULL, RECURRENT)
    if every := _count(config, "full_attention_interval", _WHOLE_EVERY.get(family, 0)):
        return _but_every(every, layers, RECURRENT)
    if family in _SLIDING_BUT_EVERY:
        every = _count(config, "sliding_window_pattern", _SLIDING_BUT_EVERY[family])
        return _but_every(every, layers, SLIDING)
    return ()


def _but_every(every: int, layers: int, others: str) -> tuple[str, ...]:
    return tuple(others if (n + 1) % every else FULL for n in range(layers))


def _some(layers: int, chosen: set[int], kind: str, others: str) -> tuple[str, ...]:
    return tuple(kind if number in chosen else others for number in range(layers))


def _count(config: Mapping[str, Any], key: str, default: int) -> int:
    value = config.get(key)
    return value if type(value) is int and value > 0 else default


def _ints(values: object) -> list[int]:
    return [v for v in values if type(v) is int] if isinstance(values, list) else []


def _mapping(config: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = config.get(key)
    return value if isinstance(value, Mapping) else {}

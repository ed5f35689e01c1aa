"""The sizes of an EAGLE head's decoder layers, from a config.json of either layout."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor
from transformers import LlamaConfig, Qwen3Config

from trtspec.errors import RunError
from trtspec.models.json_file import read_json_object

_LAYER_CONFIG = "transformer_layer_config"
_LAYER = re.compile(r"layers\.(\d+)\.")
_FOREIGN = ("architectures", "auto_map", "model_type", "torch_dtype", "dtype")
"""Keys that would make transformers look for another class, or warn."""


def flat_config(directory: Path) -> dict[str, Any]:
    """Read config.json with all sizes at the top.

    The speculators library keeps those of the decoder layers one level down.

    :raises UsageError: if it cannot be read.
    """
    config = read_json_object(directory / "config.json")
    inner = config.get(_LAYER_CONFIG)
    return {**config, **inner} if isinstance(inner, dict) else dict(config)


def is_speculators(config: Mapping[str, Any]) -> bool:
    """Whether a ``flat_config`` was written by the speculators library."""
    return "speculators_model_type" in config


def layer_config(directory: Path, tensors: Mapping[str, Tensor]) -> Any:
    """Make transformers' configuration of a head's decoder layers.

    The speculators library leaves out sizes that are transformers' defaults.

    :param tensors: the head's, named ``layers.<n>...``: they decide how many layers
        there are, whether of Qwen3's kind, and how large the attention heads are.
    :raises RunError: if there are none, or transformers does not take the sizes.
    """
    layers = [int(found[1]) for name in tensors if (found := _LAYER.match(name))]
    if not layers:
        raise RunError(
            "the head has no decoder layer",
            where=str(directory),
            action="give the head as it was published",
        )
    config = flat_config(directory)
    kind = Qwen3Config if _has_head_norms(tensors) else LlamaConfig
    given = {key: value for key, value in config.items() if key not in _FOREIGN}
    given["num_hidden_layers"] = 1 + max(layers)
    given["head_dim"] = _head_size(config, tensors)
    if kinds := given.get("layer_types"):
        given["layer_types"] = kinds[: given["num_hidden_layers"]]
    try:
        made = kind.from_dict(given, attn_implementation="sdpa")
    except Exception as error:  # transformers raises many kinds for bad values
        raise RunError(
            f"the head's config.json describes no decoder layer: {error}",
            where=str(directory),
            action="give the head as it was published",
        ) from error
    return made


def _has_head_norms(tensors: Mapping[str, Tensor]) -> bool:
    return "layers.0.self_attn.q_norm.weight" in tensors


def _head_size(config: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> int | None:
    queries = tensors.get("layers.0.self_attn.q_proj.weight")
    heads = config.get("num_attention_heads")
    if queries is None or not heads:
        return config.get("head_dim")
    return int(queries.shape[0] // heads)

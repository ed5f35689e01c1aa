"""What a model's configuration tells beside its sizes: windows, heads, tokens, code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_CODE_CLASSES = {"AutoConfig", "AutoModelForCausalLM"}
NEXT_TOKEN_HEADS = ("num_nextn_predict_layers", "mtp_num_hidden_layers")
_LATENT, _POSITIONS = "kv_lora_rank", "qk_rope_head_dim"
_MASK_TOKENS = ("pard_token", "mask_token_id")
"""In the order in which TensorRT-LLM looks for them
(tensorrt_llm/_torch/models/modeling_speculative.py, ``PARDForCausalLM``)."""


def sliding_window(config: Mapping[str, Any]) -> int | None:
    """Tokens that a sliding-window layer looks back; None without one."""
    window = config.get("sliding_window")
    used = config.get("use_sliding_window", True)
    return window if used and isinstance(window, int) and window > 0 else None


def layer_types(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Kind of each layer; empty if the configuration does not tell."""
    types = config.get("layer_types")
    return tuple(map(str, types)) if isinstance(types, list) else ()


def own_code(config: Mapping[str, Any]) -> str | None:
    """Give the ``model_type`` if code of the checkpoint's own goes with it."""
    classes = config.get("auto_map")
    if not isinstance(classes, dict) or not _CODE_CLASSES & classes.keys():
        return None
    return str(config.get("model_type") or "")


def next_token_heads(config: Mapping[str, Any]) -> int:
    """Heads for further tokens (MTP) that are stored behind the layers; 0 without."""
    return _counted(config, *NEXT_TOKEN_HEADS)


def latent_size(config: Mapping[str, Any]) -> int | None:
    """Values that MLA caches: the latent, and the part with positions beside it."""
    rank = _counted(config, _LATENT)
    return rank + _counted(config, _POSITIONS) if rank else None


def mask_token(config: Mapping[str, Any]) -> int | None:
    """Id of the token that a PARD draft model proposes for; None if it names none."""
    named = next((config[key] for key in _MASK_TOKENS if key in config), None)
    return named if type(named) is int and named >= 0 else None


def _counted(config: Mapping[str, Any], *names: str) -> int:
    """Give the first number above 0 under these names; 0 if there is none."""
    found = (config.get(name) for name in names)
    return next((n for n in found if type(n) is int and n > 0), 0)

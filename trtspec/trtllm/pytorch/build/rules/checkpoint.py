"""What a target's config.json says that only this backend asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trtspec.errors import TrtspecError
from trtspec.models.config import CONFIG
from trtspec.models.info import ModelInfo
from trtspec.models.json_file import read_json_object

HEADS = "num_nextn_predict_layers"
"""Key of the next-token heads (tensorrt_llm/_torch/models/modeling_deepseekv3.py)."""
_LATENT = "kv_lora_rank"


def next_token_heads(info: ModelInfo) -> int:
    """Give how many next-token heads a checkpoint has."""
    count = _config(info).get(HEADS)
    return count if isinstance(count, int) else 0


def has_latent_attention(info: ModelInfo) -> bool:
    """Whether a model has multi-head latent attention, as DeepSeek's have."""
    return bool(_config(info).get(_LATENT))


def _config(info: ModelInfo) -> Mapping[str, Any]:
    if info.directory is None:
        return {}
    try:
        whole = read_json_object(info.directory / CONFIG)
    except TrtspecError:
        return {}
    inner = whole.get("text_config")
    return {**whole, **inner} if isinstance(inner, dict) else whole

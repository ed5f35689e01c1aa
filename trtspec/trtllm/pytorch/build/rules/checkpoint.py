"""What a target's config.json says that only this backend asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from packaging.version import Version

from trtspec.errors import TrtspecError
from trtspec.models.config import CONFIG
from trtspec.models.info import ModelInfo
from trtspec.models.json_file import read_json_object
from trtspec.trtllm.facts.families import family_of

HEADS = "num_nextn_predict_layers"
"""Key of the next-token heads (tensorrt_llm/_torch/models/modeling_deepseekv3.py)."""
_LATER_HEADS = "mtp_num_hidden_layers"
"""What the newest releases read where that is not given."""
_LATENT = "kv_lora_rank"


def head_keys(version: Version | None) -> tuple[str, ...]:
    """Keys that a release reads the number of next-token heads from, in their order.

    With which candidate of 1.3 the second one came is not established: all of the
    newest family are taken to read it, and any release that is not known.
    (tensorrt_llm/_torch/speculative/utils.py, update_spec_config_from_model_config)
    """
    newest = version is None or family_of(version) == "main"
    return (HEADS, _LATER_HEADS) if newest else (HEADS,)


def next_token_heads(info: ModelInfo, version: Version | None) -> int:
    """Give how many next-token heads a release finds in a checkpoint.

    Where no key is given, releases that read both take one for granted: true if the
    weights hold any.

    :param version: of TensorRT-LLM; None if it is not known.
    """
    keys, config = head_keys(version), _config(info)
    named = next((config[key] for key in keys if config.get(key) is not None), None)
    if named is None and len(keys) > 1 and info.stored_next_token_heads:
        return 1
    return named if type(named) is int else 0


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

"""How a checkpoint's weights are quantized, in a recipe's words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trtspec.errors import TrtspecError
from trtspec.models.config import CONFIG
from trtspec.models.info import ModelInfo
from trtspec.models.json_file import read_json_object

QUANT_CONFIG = "hf_quant_config.json"
"""Written by NVIDIA ModelOpt beside the weights."""
ALGORITHMS = {"fp8": "FP8", "nvfp4": "NVFP4", "int4_awq": "W4A16_AWQ"}
"""A recipe's quantization → ModelOpt's ``quant_algo`` (modelopt/torch/export)."""
_WORDS = {algorithm.lower(): word for word, algorithm in ALGORITHMS.items()}
_BY_MODELOPT = "modelopt"


def stored_quantization(info: ModelInfo) -> str:
    """Give ``none``, a recipe's word, or what the checkpoint itself calls it."""
    named = info.quantization
    if named == _BY_MODELOPT and info.directory is not None:
        named = _algorithm(info.directory) or named
    return _WORDS.get(named, named)


def quantization_section(directory: Path) -> Mapping[str, Any]:
    """Give what ModelOpt says of a checkpoint that it wrote; empty if it did not.

    :raises UsageError: if the file is damaged.
    """
    path = directory / QUANT_CONFIG
    if not path.is_file():
        return {}
    section = read_json_object(path).get("quantization")
    return section if isinstance(section, dict) else {}


def _algorithm(directory: Path) -> str:
    try:
        own = read_json_object(directory / CONFIG).get("quantization_config")
        inner = own if isinstance(own, dict) else {}
        named = inner.get("quant_algo") or quantization_section(directory).get(
            "quant_algo"
        )
    except TrtspecError:
        return ""
    return str(named).lower() if named else ""

"""How a checkpoint's weights were quantized by whoever published it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from trtspec.methods.quantization import Quantization
from trtspec.models.json_file import read_json_object

MODELOPT = "hf_quant_config.json"
"""What NVIDIA ModelOpt writes beside config.json."""

_ALGORITHMS: dict[str, Quantization] = {
    "FP8": "fp8",
    "NVFP4": "nvfp4",
    "W4A16_AWQ": "int4_awq",
    "W8A8_SQ_PER_CHANNEL": "int8_sq",
    "W8A8_SQ_PER_CHANNEL_PER_TOKEN_PLUGIN": "int8_sq",
    "W8A16": "int8_wo",
}
"""ModelOpt's ``quant_algo`` → a recipe's word. What is not here has none."""


class Published(NamedTuple):
    """How weights are stored.

    :param named: ``none``, or the method or algorithm as published, in lower case.
    :param word: a recipe's word for the same; None if it has none.
    :param kv_cache: type of the KV cache that goes with it; None if none is named.
    """

    named: str
    word: Quantization | None
    kv_cache: str | None = None


def published_quantization(directory: Path, config: Mapping[str, Any]) -> Published:
    """Read it from config.json, or from what ModelOpt writes beside it.

    Only ModelOpt's algorithms have a recipe's word: other libraries store weights of
    the same name in other ways.

    :param config: the content of ``config.json``.
    :raises UsageError: if ModelOpt's file is damaged.
    """
    own = config.get("quantization_config")
    beside = _beside(directory)
    if isinstance(own, dict) and not _algorithm(own):
        named = str(own.get("quant_method") or "unnamed").lower()
        return Published(named, None, _kv_cache(beside))
    section = own if isinstance(own, dict) else beside
    algorithm = _algorithm(section)
    if not algorithm:
        return Published("none", "none", _kv_cache(section))
    word = _ALGORITHMS.get(algorithm.upper())
    return Published(algorithm.lower(), word, _kv_cache(section) or _kv_cache(beside))


def _beside(directory: Path) -> Mapping[str, Any]:
    path = directory / MODELOPT
    section = read_json_object(path).get("quantization") if path.is_file() else None
    return section if isinstance(section, dict) else {}


def _algorithm(section: Mapping[str, Any]) -> str:
    named = section.get("quant_algo")
    return named if isinstance(named, str) else ""


def _kv_cache(section: Mapping[str, Any]) -> str | None:
    named = section.get("kv_cache_quant_algo")
    return named.lower() if isinstance(named, str) and named else None

"""How a checkpoint's weights were quantized by whoever published it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from trtspec.errors import UsageError
from trtspec.methods.quantization import Quantization
from trtspec.models.json_file import json_name, read_json_object

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


_SECTION = "quantization_config"

_CACHES = {("float", 8): "fp8", ("float", 4): "nvfp4", ("int", 8): "int8"}
"""``kv_cache_scheme``'s type and bits → a type of the KV cache.

On its main branch TensorRT-LLM's backend pytorch reads them so, 8 bits of float of
compressed-tensors (``update_quant_config_from_compressed_tensors``, which refuses
others), all three of ModelOpt (``read_modelopt_quant_config``). From which release on
is not established.
"""


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
    :raises UsageError: if the section, or ModelOpt's file, is damaged.
    """
    own = config.get(_SECTION)
    if own is not None and not isinstance(own, dict):
        raise UsageError(
            f"{_SECTION} is {json_name(own)}",
            where=str(directory / "config.json"),
            allowed="a JSON object with quant_method",
            action="fetch the configuration again, or delete the key if the weights "
            "are not quantized",
        )
    beside = _beside(directory)
    if isinstance(own, dict) and not _algorithm(own):
        named = str(own.get("quant_method") or "unnamed").lower()
        return Published(named, None, _kv_cache(own) or _kv_cache(beside))
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
    """Read ModelOpt's word, or else compressed-tensors' scheme."""
    named = section.get("kv_cache_quant_algo")
    if isinstance(named, str) and named:
        return named.lower()
    scheme = section.get("kv_cache_scheme")
    if isinstance(scheme, str) and scheme:
        return scheme.lower()
    if not isinstance(scheme, dict):
        return None
    kind, bits = scheme.get("type"), scheme.get("num_bits")
    if not isinstance(kind, str) or type(bits) is not int:
        return None
    return _CACHES.get((kind, bits), f"{kind}{bits}")

"""How a checkpoint is quantized: by which method, which groups, and what is left out.

Whether a part is quantized is told by its tensors: a scale beside its weight, or a
weight of a packed type. The configuration's list of exceptions only counts where there
are no tensors to look at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trtspec.errors import TrtspecError
from trtspec.models.json_file import read_json_object
from trtspec.models.published import MODELOPT, published_quantization
from trtspec.models.tensor_header import TensorHeader, Tensors

_SCALES = (
    "weight_scale_inv", "weight_scale_2", "weight_scale", "scales", "qzeros", "g_idx",
    "input_scale", "weight_zero_point", "weight_global_scale", "input_global_scale",
    "weight_shape", "k_scale", "v_scale", "pre_quant_scale",
)  # fmt: skip
_TABLES = ("d2t", "t2d", "rotary_emb.inv_freq")
_PACKED = ("qweight", "weight_packed", "weight_blocks")
_PACKED_TYPES = ("float8", "float4", "int8", "uint8")
_GROUPS = ("group_size", "weight_block_size", "q_group_size")
_EXCEPTIONS = (
    "exclude_modules", "modules_to_not_convert", "ignore", "ignored_layers",
    "llm_int8_skip_modules",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Quantization:
    """How weights are stored.

    :param method: ``none``, or as published, in lower case.
    :param group_size: values that share a scale; a block's two sides for FP8 blocks.
    :param bits: per weight, where the configuration says.
    :param kv_cache: type that the checkpoint was calibrated for; None if it names none.
    :param exceptions: parts that the configuration leaves out.
    :param lm_head: whether the LM head is quantized; None if that is not known.
    """

    method: str
    group_size: int | tuple[int, ...] | None = None
    bits: int | None = None
    kv_cache: str | None = None
    exceptions: tuple[str, ...] = ()
    lm_head: bool | None = None


def quantization_of(
    directory: Path, config: Mapping[str, Any], tensors: Tensors
) -> Quantization:
    """Tell how a checkpoint is quantized.

    :param config: the content of ``config.json``.
    :raises UsageError: if ModelOpt's file is damaged.
    """
    found = published_quantization(directory, config)
    section = _section(directory, config)
    weights = _weights_section(section)
    return Quantization(
        method=found.named,
        group_size=_group(section) or _group(weights),
        bits=_number(section, "bits") or _number(weights, "num_bits"),
        kv_cache=found.kv_cache,
        exceptions=_exceptions(section),
        lm_head=is_quantized(tensors, ("lm_head.",)),
    )


def is_quantized(tensors: Tensors, prefixes: tuple[str, ...]) -> bool | None:
    """Whether a part's matrices are quantized; None if it has none.

    :param prefixes: of the part's tensors. Norms and biases do not count: nothing
        quantizes them.
    """
    names = [name for name in tensors if name.startswith(prefixes)]
    if any(name.endswith(_SCALES) or _is_packed(name, tensors) for name in names):
        return True
    plain = any(n.endswith("weight") and len(tensors[n].shape) > 1 for n in names)
    return False if plain else None


def parameter_count(tensors: Iterable[tuple[str, TensorHeader]], bits: int) -> int:
    """Count weights, packed ones as many as they hold, their scales not at all.

    :param bits: per weight of packed 32-bit words.
    """
    return sum(
        tensor.elements * _held(name, tensor, bits)
        for name, tensor in tensors
        if not name.endswith((*_SCALES, "_scales", *_TABLES))
    )


def _held(name: str, tensor: TensorHeader, bits: int) -> int:
    """Weights in one stored element."""
    if name.endswith(_PACKED) and tensor.dtype == "int32":
        return 32 // bits
    packed = name.endswith((*_PACKED, "weight", "_blocks"))
    return 2 if packed and tensor.dtype == "uint8" else 1


def _is_packed(name: str, tensors: Tensors) -> bool:
    if name.endswith(_PACKED):
        return True
    dtype = tensors[name].dtype
    return name.endswith("weight") and dtype.startswith(_PACKED_TYPES)


def _section(directory: Path, config: Mapping[str, Any]) -> Mapping[str, Any]:
    own = config.get("quantization_config")
    beside: Any = None
    if (path := directory / MODELOPT).is_file():
        try:
            beside = read_json_object(path).get("quantization")
        except TrtspecError:
            beside = None
    whole = beside if isinstance(beside, dict) else {}
    return {**whole, **own} if isinstance(own, dict) else whole


def _weights_section(section: Mapping[str, Any]) -> Mapping[str, Any]:
    """Find what compressed-tensors says of the weights of its first group."""
    groups = section.get("config_groups")
    first = next(iter(groups.values()), None) if isinstance(groups, dict) else None
    weights = first.get("weights") if isinstance(first, dict) else None
    return weights if isinstance(weights, dict) else {}


def _group(section: Mapping[str, Any]) -> int | tuple[int, ...] | None:
    for key in _GROUPS:
        value = section.get(key)
        if type(value) is int and value > 0:
            return value
        if isinstance(value, list) and value and all(type(n) is int for n in value):
            return tuple(value)
    return None


def _number(section: Mapping[str, Any], key: str) -> int | None:
    value = section.get(key)
    return value if type(value) is int and value > 0 else None


def _exceptions(section: Mapping[str, Any]) -> tuple[str, ...]:
    for key in _EXCEPTIONS:
        value = section.get(key)
        if isinstance(value, list):
            return tuple(map(str, value))
    return ()

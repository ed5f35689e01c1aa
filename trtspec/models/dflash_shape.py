"""How large a DFlash drafter's parts are, and whether TensorRT-LLM could load them.

Keys and tensors are those that ``DFlashForCausalLM`` reads
(tensorrt_llm/_torch/models/modeling_dflash.py): ``block_size``; ``mask_token_id`` and
``target_layer_ids``, of which it takes the layers only from ``dflash_config``; ``fc``
from the target's hidden states, ``hidden_norm`` and the layers. Embedding and output
weight are the target's, so that both models have one width.
"""

from __future__ import annotations

import re
from typing import Any

from trtspec.errors import UsageError
from trtspec.models.drafter_configuration import DrafterConfiguration
from trtspec.models.eagle3 import eagle3_sign
from trtspec.models.tensor_header import Tensors

_SECTION = "dflash_config"
_LAYER = re.compile(r"(layers\.|model\.layers\.)(\d+)\.")
_PARTS = ("fc.weight", "hidden_norm.weight")


def dflash_shape(
    config: DrafterConfiguration, tensors: Tensors | None
) -> dict[str, Any]:
    """Read the sizes of a drafter's parts.

    :param tensors: None if the weights are pickled: then the configuration counts.
    :returns: the fields of ``DrafterShape``; None is what the checkpoint does not tell.
    :raises UsageError: if it is another kind of drafter, or its parts do not fit.
    """
    width = config.required("hidden_size")
    layer_ids = config.layer_ids("target_layer_ids", _SECTION)
    vocabulary = config.number("vocab_size")
    shape: dict[str, Any] = {
        "layers": config.required("num_hidden_layers"),
        "width": width,
        "hidden_size": width,
        "target_layers": layer_ids,
        "captured_states": len(layer_ids) if layer_ids else None,
        "vocabulary_rows": vocabulary,
        "target_vocabulary": vocabulary,
        "block_size": config.number("block_size"),
        "mask_token": _mask_token(config),
    }
    if tensors is None:
        return shape
    _require_parts(config, tensors)
    prefix, layers = _layers(config, tensors)
    return shape | {
        "layers": layers,
        "layer_prefix": prefix,
        "captured_states": _captured(config, tensors, width, layer_ids),
    }


def _require_parts(config: DrafterConfiguration, tensors: Tensors) -> None:
    missing = [name for name in _PARTS if name not in tensors]
    if not missing:
        return
    if sign := eagle3_sign(config.values, tensors):
        raise UsageError(
            f"is an EAGLE-3 head ({sign})",
            where=str(config.directory),
            allowed="a DFlash drafter",
            action="write method: eagle3, or give a DFlash drafter",
        )
    raise config.lacks("DFlash drafter", missing[0])


def _mask_token(config: DrafterConfiguration) -> int | None:
    """Read the mask token's id, as TensorRT-LLM looks for it.

    :raises UsageError: if it is no whole number of 0 or more.
    """
    value = config.section(_SECTION).get("mask_token_id")
    if value is None:
        value = config.values.get("mask_token_id")
    if value is None or (type(value) is int and value >= 0):
        return value
    raise UsageError(
        f"mask_token_id is {value!r}",
        where=str(config.path),
        allowed="the id of a token",
    )


def _layers(config: DrafterConfiguration, tensors: Tensors) -> tuple[str, int]:
    """Give the layers' prefix and number; ``DFlash`` builds as many as configured."""
    found = [match for name in tensors if (match := _LAYER.match(name))]
    if not found:
        raise config.lacks("layer", "layers.0.self_attn.q_proj.weight")
    stored = 1 + max(int(match[2]) for match in found)
    said = config.required("num_hidden_layers")
    if stored != said:
        raise config.contradicts(
            f"num_hidden_layers is {said}, but the weights hold {stored} layers",
            "one number for both",
        )
    return found[0][1], stored


def _captured(
    config: DrafterConfiguration,
    tensors: Tensors,
    width: int,
    layer_ids: tuple[int, ...] | None,
) -> int:
    """Give the number of hidden states that ``fc`` reads."""
    shape = tensors[_PARTS[0]].shape
    states = shape[1] // width if len(shape) == 2 else 0
    if shape != (width, states * width) or not states:
        raise config.contradicts(
            f"hidden_size is {width}, and fc.weight is {list(shape)}",
            f"fc.weight of {width} rows and a multiple of {width} columns",
        )
    if layer_ids and len(layer_ids) != states:
        raise config.contradicts(
            f"target_layer_ids names {len(layer_ids)} layers, and fc.weight reads "
            f"{states} hidden states",
            "as many layers as hidden states",
        )
    return states

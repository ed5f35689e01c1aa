"""How large EAGLE and DFlash heads are, as the reference engine reads them.

Where TensorRT-LLM's readers, ``drafter_shape``, want more or less: EAGLE's ``fc`` needs
no bias, and an EAGLE-3 head may have another width than its target without saying so.
"""

from __future__ import annotations

import re
from typing import Any

from trtspec.errors import UsageError
from trtspec.models.dflash_shape import dflash_shape
from trtspec.models.drafter_configuration import DrafterConfiguration
from trtspec.models.eagle3_shape import CAPTURED, eagle3_shape
from trtspec.models.tensor_header import Tensors

_EAGLE_FC = ("fc.weight", "fusion_fc.weight")
_EAGLE_BIAS = ("fc.bias", "fusion_fc.bias")
_EAGLE_LAYER = re.compile(r"layers\.(\d+)\.|transformer\.()")
_EMBEDDING = "embed_tokens.weight"


def eagle_shape(
    config: DrafterConfiguration, tensors: Tensors | None
) -> dict[str, Any]:
    """Read the sizes of an EAGLE-1 or EAGLE-2 drafter.

    :param tensors: named without ``model.``; None if the weights are pickled: then the
        configuration counts.
    :returns: the fields of ``DrafterShape``; None is what the checkpoint does not tell.
    :raises UsageError: if a part is missing, or the parts do not fit.
    """
    shape: dict[str, Any] = {
        "layers": config.required("num_hidden_layers"),
        "hidden_size": config.required("hidden_size"),
        "vocabulary_rows": config.number("vocab_size"),
    }
    if tensors is None:
        return shape
    fc = next((tensors[name] for name in _EAGLE_FC if name in tensors), None)
    if fc is None:
        raise config.lacks("EAGLE drafter", _EAGLE_FC[0])
    size = shape["hidden_size"]
    if fc.shape != (size, 2 * size):
        raise config.contradicts(
            f"hidden_size is {size}, and fc.weight is {list(fc.shape)}",
            f"fc.weight of {size} rows and {2 * size} columns",
        )
    layers = {match[1] for name in tensors if (match := _EAGLE_LAYER.match(name))}
    if not layers:
        raise config.lacks("layer", "layers.0.self_attn.q_proj.weight")
    embedding = tensors.get(_EMBEDDING)
    own = embedding is not None
    rows = shape["vocabulary_rows"]
    if embedding is not None:
        if len(embedding.shape) != 2:
            raise config.misshapen(_EMBEDDING, embedding.shape, (rows, size))
        rows = embedding.shape[0]
    return shape | {
        "layers": len(layers),
        "vocabulary_rows": rows,
        "has_own_embedding": own,
        "has_fc_bias": any(name in tensors for name in _EAGLE_BIAS),
    }


def eagle3_fused_shape(
    config: DrafterConfiguration, tensors: Tensors | None
) -> dict[str, Any]:
    """Read the sizes of an EAGLE-3 head, leaving open what only its target can tell.

    :param tensors: named without ``model.``; None if the weights are pickled: then the
        configuration counts.
    :returns: the fields of ``DrafterShape``; None is what the checkpoint does not tell.
    :raises UsageError: if it is another kind of drafter, or its parts do not fit.
    """
    if "eh_proj.weight" in (tensors or {}):
        raise UsageError(
            "the EAGLE-3 head projects embedding and state before its attention (it "
            "holds the tensor eh_proj.weight)",
            where=str(config.directory),
            allowed="a head whose attention reads both side by side",
            action="choose another head",
        )
    shape = eagle3_shape(config, tensors)
    _require_table(config, tensors or {}, shape["target_vocabulary"])
    fc = (tensors or {}).get("fc.weight")
    told = shape["target_layers"] or config.number("target_hidden_size")
    if fc is None or told or fc.shape[1] == CAPTURED * shape["width"]:
        return shape
    open_ = {"hidden_size": None, "captured_states": None, "fused_values": fc.shape[1]}
    return shape | open_


def _require_table(
    config: DrafterConfiguration, tensors: Tensors, vocabulary: int | None
) -> None:
    """Hold the table of the target's tokens against the configuration."""
    table = tensors.get("t2d")
    if table is not None and vocabulary and table.shape != (vocabulary,):
        raise config.contradicts(
            f"vocab_size is {vocabulary}, and t2d is {list(table.shape)}",
            f"t2d of {vocabulary} entries",
        )


def full_dflash_shape(
    config: DrafterConfiguration, tensors: Tensors | None
) -> dict[str, Any]:
    """Read the sizes of a DFlash drafter whose layers all have full attention.

    What a window would hide of a block is not settled: z-lab's code and TensorRT-LLM
    do not agree.

    :param tensors: named without ``model.``; None if the weights are pickled: then the
        configuration counts.
    :returns: the fields of ``DrafterShape``; None is what the checkpoint does not tell.
    :raises UsageError: if it is another kind of drafter, or its parts do not fit.
    """
    types = config.values.get("layer_types")
    if isinstance(types, list) and "sliding_attention" in types:
        raise UsageError(
            "layer_types has sliding_attention",
            where=str(config.path),
            allowed="a DFlash drafter whose layers all have full attention",
            action="choose another drafter",
        )
    return dflash_shape(config, tensors)

"""How large drafters' parts are that the reference engine reads in its own way.

Where TensorRT-LLM's readers, ``drafter_shape``, want more: Medusa heads may share the
target's LM head, and next-token heads may be a checkpoint of their own.
"""

from __future__ import annotations

import re
from typing import Any

from trtspec.models.drafter_configuration import DrafterConfiguration
from trtspec.models.drafter_signs import MEDUSA_PREFIX
from trtspec.models.next_token import EXAMPLES, next_token_name, stored_next_token_heads
from trtspec.models.tensor_header import Tensors

_MEDUSA_LAYER = re.compile(r"(\d+)\.(\d+)\.linear\.weight")
_REDRAFTER_LAYER = re.compile(r"(lm_heads?|0)\.(\d+)\.linear\.weight")


def medusa_shape(
    config: DrafterConfiguration, tensors: Tensors | None
) -> dict[str, Any]:
    """Read the sizes of Medusa heads, from the tensors alone where there are any.

    :param tensors: None if the weights are pickled: then the configuration counts.
    :returns: the fields of ``DrafterShape``; None is what the checkpoint does not tell.
    :raises UsageError: if a head is missing, or the heads are not alike.
    """
    if tensors is None:
        return {
            "heads": config.number("medusa_num_heads"),
            "head_layers": config.number("medusa_num_layers"),
            "hidden_size": config.number("hidden_size"),
            "vocabulary_rows": config.number("vocab_size"),
        }
    # behind the prefix heads share a checkpoint with the model that they belong to
    if inside := [name for name in tensors if name.startswith(MEDUSA_PREFIX)]:
        tensors = {name.removeprefix(MEDUSA_PREFIX): tensors[name] for name in inside}
    found = [match for name in tensors if (match := _MEDUSA_LAYER.fullmatch(name))]
    if not found:
        raise config.lacks("Medusa heads", "0.0.linear.weight")
    heads, layers = (1 + max(int(match[part]) for match in found) for part in (1, 2))
    outputs = [n for n in range(heads) if f"{n}.{layers}.weight" in tensors]
    parts = [
        f"{n}.{m}.linear.{part}"
        for n in range(heads)
        for m in range(layers)
        for part in ("weight", "bias")
    ]
    if outputs:  # one of them is not shared, so that none is
        parts += [f"{n}.{layers}.weight" for n in range(heads)]
    if missing := [name for name in parts if name not in tensors]:
        raise config.lacks(
            f"part of Medusa head {missing[0].split('.')[0]}", missing[0]
        )
    size = _rows(tensors, "0.0.linear.weight")
    rows = _rows(tensors, f"0.{layers}.weight")
    shapes = {"linear.weight": (size, size), "linear.bias": (size,)}
    for name in parts:
        shape = shapes.get(name.split(".", 2)[2], (rows, size))
        if tensors[name].shape != shape:
            raise config.misshapen(name, tensors[name].shape, shape)
    return {
        "heads": heads,
        "head_layers": layers,
        "hidden_size": size,
        "vocabulary_rows": rows,
        "has_own_output": bool(outputs),
    }


def redrafter_shape(
    config: DrafterConfiguration, tensors: Tensors | None
) -> dict[str, Any]:
    """Read the sizes of a ReDrafter head.

    ``lm_head`` (or one of the other names of TensorRT-LLM's converter) is residual
    layers and the output (apple/ml-recurrent-drafter,
    recurrent_drafting/modeling_drafter.py).

    :param tensors: None if the weights are pickled: then the configuration counts.
    :returns: the fields of ``DrafterShape``; None is what the checkpoint does not tell.
    :raises UsageError: if a part is missing, or the parts do not fit.
    """
    size = config.required("hidden_size")
    shape: dict[str, Any] = {
        "hidden_size": size,
        "head_layers": config.number("num_draft_layers"),
        "vocabulary_rows": config.number("vocab_size"),
    }
    if tensors is None:
        return shape
    found = [match for name in tensors if (match := _REDRAFTER_LAYER.fullmatch(name))]
    if not found:
        raise config.lacks("ReDrafter head", "lm_head.0.linear.weight")
    layers = 1 + max(int(match[2]) for match in found)
    output = f"{found[0][1]}.{layers}.weight"
    if output not in tensors:
        raise config.lacks("ReDrafter head", output)
    state = tensors.get("rnn_w.weight")
    if state is None and config.values.get("rnn") is True:
        raise config.lacks("recurrent part", "rnn_w.weight")
    if state is not None and state.shape != (size, size):
        raise config.contradicts(
            f"hidden_size is {size}, and rnn_w.weight is {list(state.shape)}",
            f"rnn_w.weight of {size} rows and columns",
        )
    return shape | {"head_layers": layers, "vocabulary_rows": _rows(tensors, output)}


def mtp_shape(config: DrafterConfiguration, tensors: Tensors | None) -> dict[str, Any]:
    """Count next-token heads that are kept outside the target's checkpoint.

    :param tensors: None if the weights are pickled: then the configuration counts.
    :returns: the fields of ``DrafterShape``; None is what the checkpoint does not tell.
    :raises UsageError: if there are none.
    """
    shape: dict[str, Any] = {"hidden_size": config.number("hidden_size")}
    if tensors is None:
        return shape
    projection = next_token_name(tensors)
    if projection is None:
        raise config.lacks("next-token heads", f"such as {', '.join(EXAMPLES)}")
    return shape | {
        "heads": stored_next_token_heads(tensors),
        "hidden_size": _rows(tensors, projection),
    }


def _rows(tensors: Tensors, name: str) -> int | None:
    tensor = tensors.get(name)
    return tensor.shape[0] if tensor is not None and tensor.shape else None

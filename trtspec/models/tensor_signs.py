"""Which tensors only a drafter of one kind has.

Layouts: Medusa's heads (FasterDecoding/Medusa, medusa/model/medusa_model.py), EAGLE
(SafeAILab/EAGLE, eagle/model/cnets.py and cnets1.py), ReDrafter
(apple/ml-recurrent-drafter, recurrent_drafting/modeling_drafter.py), DFlash and
next-token heads as in ``dflash_shape`` and ``next_token``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from trtspec.models.next_token import next_token_name
from trtspec.models.tensor_header import Tensors

_MEDUSA_LAYER = re.compile(r"\d+\.\d+\.linear\.weight")
FC = ("fc.weight", "model.fc.weight", "fusion_fc.weight")
"""What the projection of an EAGLE head's input is called."""

_FIRST_LAYER = "model.layers.0."
_ATTENTION = (
    "layers.0.self_attn.q_proj.weight",
    "layers.0.self_attn.qkv_proj.weight",
)


def dflash_tensor(tensors: Tensors) -> str:
    """Name the norm that only DFlash drafters have at the top; empty without it."""
    found = "hidden_norm.weight" in tensors
    return "it holds the tensor hidden_norm.weight" if found else ""


def redrafter_tensor(tensors: Tensors) -> str:
    """Name the recurrent weight of a ReDrafter head; empty without it."""
    return "it holds the tensor rnn_u.weight" if "rnn_u.weight" in tensors else ""


def medusa_tensor(tensors: Tensors) -> str:
    """Name a residual layer of Medusa heads; empty without one."""
    name = next(filter(_MEDUSA_LAYER.fullmatch, tensors), None)
    return "" if name is None else f"it holds the tensor {name}"


def fusion_sign(tensors: Tensors, parts: int) -> str:
    """Tell by ``fc``: from embedding and hidden state, or from three hidden states.

    A projection of embedding and hidden state is EAGLE-1's and EAGLE-2's; EAGLE-3 reads
    the embedding in its attention.
    """
    read = {2: "one embedding and one hidden state", 3: "three hidden states"}[parts]
    for name in FC:
        shape = tensors[name].shape if name in tensors else ()
        if len(shape) == 2 and shape[0] and shape[1] == parts * shape[0]:
            return f"{name} is {list(shape)}, from {read}"
    return ""


def wide_attention(config: Mapping[str, Any], tensors: Tensors) -> str:
    """Attention that reads embedding and hidden state side by side is EAGLE-3's."""
    fc = next((tensors[name].shape for name in FC if name in tensors), ())
    width = fc[0] if fc else config.get("hidden_size")
    for name in tensors:
        if name.removeprefix("model.") in _ATTENTION:
            columns = tensors[name].shape[1:]
            if isinstance(width, int) and columns == (2 * width,):
                return f"{name} reads {columns[0]} values, embedding and hidden state"
    return ""


def mtp_sign(tensors: Tensors) -> str:
    """Name a projection of next-token heads that stand without a model."""
    name = next_token_name(tensors)
    if name is None or any(other.startswith(_FIRST_LAYER) for other in tensors):
        return ""  # a whole model may have next-token heads behind its layers
    return f"it holds the tensor {name}"


def model_sign(tensors: Tensors) -> str:
    """Name the first layer of what runs by itself; empty if nothing tells."""
    if any(name in tensors for name in FC):
        return ""
    name = next((name for name in tensors if name.startswith(_FIRST_LAYER)), None)
    if name is None or "model.norm.weight" not in tensors:
        return ""
    return f"it holds the tensor {name}, and no projection of hidden states"

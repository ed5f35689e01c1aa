"""Which method a checkpoint drafts for, by what only such a checkpoint has.

Layouts: Medusa's heads (FasterDecoding/Medusa, medusa/model/medusa_model.py), EAGLE
(SafeAILab/EAGLE, eagle/model/cnets.py and cnets1.py), ReDrafter
(apple/ml-recurrent-drafter, recurrent_drafting/modeling_drafter.py), DFlash and
next-token heads as in ``dflash_shape`` and ``next_token``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from trtspec.errors import UsageError
from trtspec.methods.base import DrafterKind
from trtspec.models.eagle3 import eagle3_sign
from trtspec.models.next_token import next_token_name
from trtspec.models.speculators import SPECULATORS_TYPE, speculators_type
from trtspec.models.tensor_header import TensorHeader

Tensors = Mapping[str, TensorHeader]

KIND_NAMES: dict[DrafterKind, str] = {
    "model": "a causal language model of its own",
    "medusa": "a checkpoint of Medusa heads",
    "eagle": "an EAGLE-1 or EAGLE-2 drafter",
    "eagle3": "an EAGLE-3 head",
    "redrafter": "a ReDrafter head",
    "dflash": "a DFlash drafter",
    "mtp": "a checkpoint of next-token heads",
}
"""What to call a checkpoint of each kind, to follow "is"."""

_METHODS: dict[DrafterKind, str] = {"model": "draft_target"}
"""Kind → the method that takes it, where the names differ."""

MEDUSA_PREFIX = "medusa_head."
"""What Medusa heads are called inside the checkpoint of a whole model."""

_MEDUSA_LAYER = re.compile(r"\d+\.\d+\.linear\.weight")
_REDRAFTER_TYPE = "recurrent_drafting_drafter"
_FC = ("fc.weight", "model.fc.weight", "fusion_fc.weight")
_FIRST_LAYER = "model.layers.0."
_ATTENTION = (
    "layers.0.self_attn.q_proj.weight",
    "layers.0.self_attn.qkv_proj.weight",
)


class Sign(NamedTuple):
    """What shows that a checkpoint is of a kind.

    :param text: such as ``it holds the tensor d2t``.
    """

    kind: DrafterKind
    text: str


def sign_of(config: Mapping[str, Any], tensors: Tensors) -> Sign | None:
    """Tell a checkpoint's kind; None if nothing shows it.

    :param tensors: empty if they are not known; then the configuration alone counts.
    """
    if told := speculators_type(config):
        return Sign(told, f"config.json has {SPECULATORS_TYPE}: {told}")
    for kind, told_by in (
        ("dflash", _dflash_sign(config, tensors)),
        ("eagle3", eagle3_sign(config, tensors) or _wide_attention(config, tensors)),
        ("redrafter", _redrafter_sign(config, tensors)),
        ("medusa", _medusa_sign(config, tensors)),
        ("eagle", _eagle_sign(tensors)),
        ("mtp", _mtp_sign(tensors)),
        ("model", _model_sign(tensors)),
    ):
        if told_by:
            return Sign(kind, told_by)  # type: ignore[arg-type]
    return None


def refuse_other_kind(
    directory: Path, config: Mapping[str, Any], tensors: Tensors, wanted: DrafterKind
) -> None:
    """Refuse a drafter that another method takes.

    :param tensors: empty if they are not known.
    :param wanted: what the recipe's method drafts with.
    :raises UsageError: naming what gives it away, and the method to write.
    """
    sign = sign_of(config, tensors)
    if sign is None or sign.kind == wanted:
        return
    if wanted == "medusa" and any(name.startswith(MEDUSA_PREFIX) for name in tensors):
        return  # a whole model that was stored together with its heads
    raise UsageError(
        f"is {KIND_NAMES[sign.kind]} ({sign.text})",
        where=str(directory),
        allowed=KIND_NAMES[wanted],
        action=f"write method: {_METHODS.get(sign.kind, sign.kind)}, or give "
        f"{KIND_NAMES[wanted]}",
    )


def refuse_drafter_as_model(
    directory: Path, config: Mapping[str, Any], tensors: Tensors
) -> None:
    """Refuse what drafts on another model where a model is wanted that runs by itself.

    :param tensors: empty if they are not known.
    :raises UsageError: naming what gives it away.
    """
    sign = sign_of(config, tensors)
    if sign is None or sign.kind == "model":
        return
    what = "head" if sign.kind == "eagle3" else "checkpoint"
    raise UsageError(
        f"is {KIND_NAMES[sign.kind]} ({sign.text}), which reads another model's hidden "
        "states",
        where=str(directory),
        allowed=KIND_NAMES["model"],
        action=f"name the {what} under speculation.model with method: {sign.kind}",
    )


def _dflash_sign(config: Mapping[str, Any], tensors: Tensors) -> str:
    if "hidden_norm.weight" in tensors:
        return "it holds the tensor hidden_norm.weight"
    if isinstance(config.get("dflash_config"), dict):
        return "config.json has dflash_config"
    return _class_sign(config, "dflash")


def _redrafter_sign(config: Mapping[str, Any], tensors: Tensors) -> str:
    if config.get("model_type") == _REDRAFTER_TYPE:
        return f"config.json has model_type: {_REDRAFTER_TYPE}"
    if "exit_dim" in config:
        return "config.json has exit_dim"
    return "it holds the tensor rnn_u.weight" if "rnn_u.weight" in tensors else ""


def _medusa_sign(config: Mapping[str, Any], tensors: Tensors) -> str:
    name = next(filter(_MEDUSA_LAYER.fullmatch, tensors), None)
    if name is not None:
        return f"it holds the tensor {name}"
    # a model that was trained together with its heads names them too
    if "medusa_num_heads" in config and "num_hidden_layers" not in config:
        return "config.json has medusa_num_heads"
    return ""


def _eagle_sign(tensors: Tensors) -> str:
    """``fc`` from one embedding and one hidden state to one state."""
    for name in _FC:
        shape = tensors[name].shape if name in tensors else ()
        if len(shape) == 2 and shape[1] == 2 * shape[0]:
            return f"{name} is {list(shape)}, from one embedding and one hidden state"
    return ""


def _wide_attention(config: Mapping[str, Any], tensors: Tensors) -> str:
    """Attention that reads embedding and hidden state side by side is EAGLE-3's."""
    width = config.get("hidden_size")
    for name in tensors:
        if name.removeprefix("model.") in _ATTENTION:
            columns = tensors[name].shape[1:]
            if isinstance(width, int) and columns == (2 * width,):
                return f"{name} reads {columns[0]} values, embedding and hidden state"
    return ""


def _mtp_sign(tensors: Tensors) -> str:
    name = next_token_name(tensors)
    if name is None or any(other.startswith(_FIRST_LAYER) for other in tensors):
        return ""  # a whole model may have next-token heads behind its layers
    return f"it holds the tensor {name}"


def _model_sign(tensors: Tensors) -> str:
    if any(name in tensors for name in _FC):
        return ""
    name = next((name for name in tensors if name.startswith(_FIRST_LAYER)), None)
    if name is None or "model.norm.weight" not in tensors:
        return ""
    return f"it holds the tensor {name}, and no projection of hidden states"


def _class_sign(config: Mapping[str, Any], word: str) -> str:
    classes: Collection[Any] = config.get("architectures") or ()
    for name in classes if isinstance(classes, list) else ():
        if word in str(name).lower():
            return f"config.json names the class {name}"
    return ""

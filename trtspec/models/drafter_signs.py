"""Which method a checkpoint drafts for, by what only such a checkpoint has."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from trtspec.errors import UsageError
from trtspec.methods.base import DrafterKind
from trtspec.models.eagle3 import eagle3_sign, eagle3_tensor
from trtspec.models.speculators import SPECULATORS_TYPE, speculators_type
from trtspec.models.tensor_header import Tensors
from trtspec.models.tensor_signs import (
    dflash_tensor,
    fusion_sign,
    medusa_tensor,
    model_sign,
    mtp_sign,
    redrafter_tensor,
    wide_attention,
)

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

_REDRAFTER_TYPE = "recurrent_drafting_drafter"


class Sign(NamedTuple):
    """What shows that a checkpoint is of a kind.

    :param text: such as ``it holds the tensor d2t``.
    """

    kind: DrafterKind
    text: str


def sign_of(config: Mapping[str, Any], tensors: Tensors) -> Sign | None:
    """Tell a checkpoint's kind; None if nothing shows it.

    Tensors go before the configuration: published ones name other kinds, or none.

    :param tensors: empty if they are not known; then the configuration alone counts.
    """
    stored = _first_sign(
        ("dflash", dflash_tensor(tensors)),
        ("eagle3", eagle3_tensor(tensors) or wide_attention(config, tensors)),
        ("redrafter", redrafter_tensor(tensors)),
        ("medusa", medusa_tensor(tensors)),
        ("eagle", fusion_sign(tensors, 2)),
        ("eagle3", fusion_sign(tensors, 3)),
        ("mtp", mtp_sign(tensors)),
    )
    if stored is not None:
        return stored
    if told := speculators_type(config):
        return Sign(told, f"config.json has {SPECULATORS_TYPE}: {told}")
    return _first_sign(
        ("dflash", _dflash_setting(config)),
        ("eagle3", eagle3_sign(config, ())),
        ("redrafter", _redrafter_setting(config)),
        ("medusa", _medusa_setting(config)),
        ("model", model_sign(tensors)),
    )


def _first_sign(*signs: tuple[DrafterKind, str]) -> Sign | None:
    return next((Sign(kind, text) for kind, text in signs if text), None)


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
        action=f"give here the model that it was trained for, and name the {what} "
        f"under speculation.model with method: {sign.kind}",
    )


def _dflash_setting(config: Mapping[str, Any]) -> str:
    if isinstance(config.get("dflash_config"), dict):
        return "config.json has dflash_config"
    return _class_sign(config, "dflash")


def _redrafter_setting(config: Mapping[str, Any]) -> str:
    if config.get("model_type") == _REDRAFTER_TYPE:
        return f"config.json has model_type: {_REDRAFTER_TYPE}"
    return "config.json has exit_dim" if "exit_dim" in config else ""


def _medusa_setting(config: Mapping[str, Any]) -> str:
    # a model that was trained together with its heads names them too
    alone = "medusa_num_heads" in config and "num_hidden_layers" not in config
    return "config.json has medusa_num_heads" if alone else ""


def _class_sign(config: Mapping[str, Any], word: str) -> str:
    classes: Collection[Any] = config.get("architectures") or ()
    for name in classes if isinstance(classes, list) else ():
        if word in str(name).lower():
            return f"config.json names the class {name}"
    return ""

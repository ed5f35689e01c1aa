"""Whether a checkpoint is an EAGLE-3 head, given as what it is or as something else."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from trtspec.errors import UsageError

_KEYS = ("draft_vocab_size", "eagle_aux_hidden_state_layer_ids")
"""Keys that only EAGLE-3 configurations have, on top or under ``eagle_config``."""

_TENSORS = ("d2t", "t2d", "midlayer.")
"""Tables between draft and target vocabulary, and the one layer's prefix."""


def refuse_eagle3(
    directory: Path, config: Mapping[str, Any], tensors: Collection[str]
) -> None:
    """Refuse a drafter that TensorRT-LLM's engine backend has no model for.

    :param tensors: names of the stored tensors; empty if they are not known.
    :raises UsageError: naming what gives it away.
    """
    if sign := eagle3_sign(config, tensors):
        raise UsageError(
            f"is an EAGLE-3 drafter ({sign}), which TensorRT-LLM's engine backend "
            "cannot take",
            where=str(directory),
            allowed="an EAGLE-1 or EAGLE-2 checkpoint",
            action="choose an EAGLE checkpoint of the first kind, such as "
            "yuhuili/EAGLE-Vicuna-7B-v1.3; with backend pytorch, write method: eagle3",
        )


def eagle3_sign(config: Mapping[str, Any], tensors: Collection[str]) -> str:
    """Say what shows that a checkpoint is an EAGLE-3 head; empty if nothing does.

    :param tensors: names of the stored tensors; empty if they are not known.
    """
    if sign := eagle3_tensor(tensors):
        return sign
    inner = config.get("eagle_config")
    whole = {**inner, **config} if isinstance(inner, dict) else config
    for key in _KEYS:
        if whole.get(key) is not None:
            return f"config.json has {key}"
    classes = config.get("architectures")
    for name in classes if isinstance(classes, list) else ():
        if "eagle3" in str(name).lower():
            return f"config.json names the class {name}"
    return ""


def eagle3_tensor(tensors: Collection[str]) -> str:
    """Name a tensor that only EAGLE-3 heads have; empty if there is none."""
    for name in tensors:
        if name.removeprefix("model.").startswith(_TENSORS):
            return f"it holds the tensor {name}"
    return ""

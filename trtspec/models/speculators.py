"""Whether a drafter is laid out as the speculators library has it, and what it says.

There the sizes are under ``transformer_layer_config``, and what TensorRT-LLM looks for
at the top (``hidden_size``, ``vocab_size``, ``model_type``, ...) is missing:
tensorrt_llm/_torch/models/modeling_speculative.py and modeling_dflash.py read the top
only. The layout is that of https://docs.vllm.ai/projects/speculators
(src/speculators/models/eagle3/config.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from trtspec.errors import UsageError
from trtspec.methods.base import DrafterKind
from trtspec.models.config import CONFIG
from trtspec.models.tensor_header import Tensors

SPECULATORS_TYPE = "speculators_model_type"
_KEYS = (SPECULATORS_TYPE, "speculators_config")
_INNER = "transformer_layer_config"
_READ: tuple[DrafterKind, ...] = ("eagle", "eagle3")
"""Kinds whose speculators layout the reference engine reads."""

LAYER_IDS = "eagle_aux_hidden_state_layer_ids"


def speculators_type(config: Mapping[str, Any]) -> DrafterKind | None:
    """Give the kind that a speculators configuration names; None if it is no kind."""
    named = config.get(SPECULATORS_TYPE)
    return next((kind for kind in get_args(DrafterKind) if kind == named), None)


def refuse_speculators(
    directory: Path, config: Mapping[str, Any], kind: DrafterKind
) -> None:
    """Refuse a drafter whose sizes TensorRT-LLM would not find.

    :param kind: what the drafter is wanted as.
    :raises UsageError: naming the key that gives it away.
    """
    found = _found(config)
    if found is None or not isinstance(config.get(_INNER), dict):
        return
    raise UsageError(
        f"is laid out for the speculators library ({found}: {_shown(config[found])}), "
        "which TensorRT-LLM does not read",
        where=str(directory / CONFIG),
        allowed=f"hidden_size and the other sizes at the top, not under {_INNER}",
        action=f"choose {_EXAMPLES.get(kind, 'the drafter')} in the layout of its "
        "authors",
    )


def refuse_unread_speculators(
    directory: Path, config: Mapping[str, Any], kind: DrafterKind
) -> None:
    """Refuse a speculators checkpoint that the reference engine has no reader for.

    :param kind: what the drafter is wanted as.
    :raises UsageError: naming the algorithm.
    """
    found = _found(config)
    named = config.get(SPECULATORS_TYPE, kind)
    if found is None:
        return
    if named == kind and kind in _READ:
        _refuse_embeddings(directory, config)
        return
    elsewhere = named in _READ
    raise UsageError(
        f"is laid out for the speculators library ({found}: {_shown(config[found])})",
        where=str(directory / CONFIG),
        allowed=f"a checkpoint for method {kind} in the layout of its authors; of "
        f"speculators' own layouts, {', '.join(_READ)}",
        action=f"write method: {named}"
        if elsewhere
        else "choose another drafter, or this one in the layout of its authors",
    )


def _refuse_embeddings(directory: Path, config: Mapping[str, Any]) -> None:
    ids = config.get(LAYER_IDS)
    if isinstance(ids, list) and 0 in ids:
        raise UsageError(
            f"{LAYER_IDS} is {ids}: the head reads the input of layer 0, the target's "
            "embeddings",
            where=str(directory / CONFIG),
            allowed="inputs of layers from 1 on, which are outputs of those before",
            action="choose another head",
        )


def at_the_top(config: Mapping[str, Any], tensors: Tensors | None) -> dict[str, Any]:
    """Give a drafter's configuration with all sizes at the top.

    A speculators configuration leaves out what is its library's default; such sizes
    are taken from the tensors. It counts the target's layers by their inputs, all
    others by their outputs. Any other configuration is given as it is.

    :param tensors: None if the weights are pickled.
    """
    inner = config.get(_INNER)
    if _found(config) is None or not isinstance(inner, dict):
        return dict(config)
    whole = {**_stored_sizes(tensors or {}), **config, **inner}
    ids = whole.get(LAYER_IDS)
    if isinstance(ids, list) and all(type(layer) is int for layer in ids):
        whole[LAYER_IDS] = [layer - 1 for layer in ids]
    return whole


def _stored_sizes(tensors: Tensors) -> dict[str, int]:
    """Sizes that the tensors of an EAGLE head tell."""
    told = {
        "hidden_size": ("fc.weight", "fusion_fc.weight", "norm.weight"),
        "vocab_size": ("t2d", "embed_tokens.weight"),
    }
    layers = {name.split(".")[1] for name in tensors if name.startswith("layers.")}
    sizes = {"num_hidden_layers": len(layers) or 1}
    for key, names in told.items():
        rows = (tensors[n].shape[0] for n in names if n in tensors and tensors[n].shape)
        if (size := next(rows, None)) is not None:
            sizes[key] = size
    return sizes


def _found(config: Mapping[str, Any]) -> str | None:
    return next((key for key in _KEYS if key in config), None)


_EXAMPLES: dict[DrafterKind, str] = {
    "eagle3": "the head, such as yuhuili/EAGLE3-LLaMA3.1-Instruct-8B,",
    "dflash": "the drafter, such as z-lab/Qwen3-8B-DFlash-b16,",
}


def _shown(value: object) -> str:
    return value if isinstance(value, str) else "..."

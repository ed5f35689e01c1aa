"""How large a drafter's parts are, from its tensors where they can be read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trtspec.methods.base import DrafterKind
from trtspec.models.dflash_shape import dflash_shape
from trtspec.models.drafter_configuration import DrafterConfiguration
from trtspec.models.drafter_files import Loader
from trtspec.models.eagle3_shape import eagle3_shape
from trtspec.models.reference_heads import (
    eagle3_fused_shape,
    eagle_shape,
    full_dflash_shape,
)
from trtspec.models.reference_shape import medusa_shape, mtp_shape, redrafter_shape
from trtspec.models.rope import rope_factor, rope_scaling, rope_theta
from trtspec.models.tensor_header import Tensors

_MEDUSA_LAYER = re.compile(r"(\d+)\.(\d+)\.linear\.weight")
_EAGLE_LAYER = re.compile(r"(?:model\.)?layers\.(\d+)\.")
_EAGLE_EMBEDDINGS = ("embed_tokens.weight", "model.embed_tokens.weight")
_REDRAFTER_LAYER = re.compile(r"(lm_heads?|0)\.(\d+)\.linear\.weight")


@dataclass(frozen=True, slots=True, kw_only=True)
class DrafterShape:
    """Sizes of a drafter's parts; None is what the checkpoint does not tell.

    :param heads: Medusa heads, or next-token heads.
    :param head_layers: residual layers of each Medusa head, or of ReDrafter's one.
    :param layers: transformer layers of an EAGLE or DFlash drafter.
    :param hidden_size: size of the target's hidden states that it was trained on.
    :param vocabulary_rows: tokens that it can propose.
    :param has_fc_bias: whether EAGLE's first projection has a bias.
    :param width: size of the drafter's own hidden states (EAGLE-3, DFlash).
    :param captured_states: hidden states of the target that it reads per token.
    :param fused_values: values of these states together, where neither their number nor
        their size is told: then the target's size decides.
    :param target_layers: layers that its configuration takes them from, in the numbers
        of that configuration.
    :param target_vocabulary: tokens of the target that it was made for.
    :param has_own_embedding: whether it brings an embedding; else it shares the
        target's.
    :param has_own_output: the same for the output weight.
    :param layer_prefix: what its layers are called: ``midlayer.``, ``layers.`` or
        ``model.layers.``.
    :param is_told_by: what shows that it is an EAGLE-3 head; empty if nothing does.
    :param block_size: tokens of a DFlash block, the last verified one included.
    :param mask_token: id of the token that stands for one to be drafted.
    :param context_length: tokens that the drafter was made for.
    :param rope_theta: base of its rotary position encoding, as its configuration has
        it; the same of ``rope_scaling`` and ``rope_factor``, as in ``ModelShape``.
    """

    heads: int | None = None
    head_layers: int | None = None
    layers: int | None = None
    hidden_size: int | None = None
    vocabulary_rows: int | None = None
    has_fc_bias: bool | None = None
    width: int | None = None
    captured_states: int | None = None
    fused_values: int | None = None
    target_layers: tuple[int, ...] | None = None
    target_vocabulary: int | None = None
    has_own_embedding: bool | None = None
    has_own_output: bool | None = None
    layer_prefix: str | None = None
    is_told_by: str | None = None
    block_size: int | None = None
    mask_token: int | None = None
    context_length: int | None = None
    rope_theta: float | None = None
    rope_scaling: str | None = None
    rope_factor: float | None = None


def shape_by_kind(
    directory: Path,
    kind: DrafterKind,
    config: Mapping[str, Any],
    tensors: Tensors | None,
    loader: Loader,
) -> dict[str, Any]:
    """Read the sizes of a drafter's parts.

    :param kind: any but a model.
    :param config: all sizes at the top.
    :param tensors: None if the weights are pickled: then the configuration counts.
    :param loader: who is to load it.
    :returns: the fields of ``DrafterShape`` that are known.
    :raises UsageError: if a part that is loaded is missing, or a size makes no sense.
    """
    readers = {**_READERS, **_REFERENCE} if loader == "reference" else _READERS
    shape = readers[kind](DrafterConfiguration(directory, config), tensors)
    longest = config.get("max_position_embeddings")
    shape["context_length"] = longest if type(longest) is int and longest > 0 else None
    shape |= {
        "rope_theta": rope_theta(config),
        "rope_scaling": rope_scaling(config),
        "rope_factor": rope_factor(config),
    }
    return {key: value for key, value in shape.items() if value is not None}


def _medusa(config: DrafterConfiguration, tensors: Tensors | None) -> dict[str, Any]:
    """Heads ``<head>.<layer>.linear.weight``, then ``<head>.<layers>.weight``."""
    if tensors is None:
        return {
            "heads": config.number("medusa_num_heads"),
            "head_layers": config.number("medusa_num_layers"),
            "hidden_size": config.number("hidden_size"),
            "vocabulary_rows": config.number("vocab_size"),
        }
    found = [match for name in tensors if (match := _MEDUSA_LAYER.fullmatch(name))]
    if not found or "0.0.linear.weight" not in tensors:
        raise config.lacks("Medusa heads", "0.0.linear.weight")
    layers = 1 + max(int(match[2]) for match in found)
    return {
        "heads": 1 + max(int(match[1]) for match in found),
        "head_layers": layers,
        "hidden_size": _rows(tensors, "0.0.linear.weight"),
        "vocabulary_rows": _rows(tensors, f"0.{layers}.weight"),
    }


def _eagle(config: DrafterConfiguration, tensors: Tensors | None) -> dict[str, Any]:
    """A Llama of few layers behind ``fc``, from embedding and hidden state to one."""
    shape: dict[str, Any] = {
        "layers": config.required("num_hidden_layers"),
        "hidden_size": config.required("hidden_size"),
        "vocabulary_rows": config.number("vocab_size"),
    }
    if tensors is None:
        return shape | {"has_fc_bias": _configured_bias(config)}
    if "fc.weight" not in tensors:
        raise config.lacks("EAGLE drafter", "fc.weight")
    stored = [match for name in tensors if (match := _EAGLE_LAYER.match(name))]
    rows = [_rows(tensors, name) for name in _EAGLE_EMBEDDINGS if name in tensors]
    if stored:
        shape["layers"] = 1 + max(int(match[1]) for match in stored)
    shape["hidden_size"] = _rows(tensors, "fc.weight")
    shape["vocabulary_rows"] = rows[0] if rows else shape["vocabulary_rows"]
    return shape | {"has_fc_bias": "fc.bias" in tensors}


def _configured_bias(config: DrafterConfiguration) -> bool | None:
    """EAGLE's own key for the bias of ``fc``; its absence proves nothing."""
    bias = config.values.get("bias")
    return bias if isinstance(bias, bool) else None


def _redrafter(config: DrafterConfiguration, tensors: Tensors | None) -> dict[str, Any]:
    """One head ``lm_head.<layer>.linear.weight``, then ``lm_head.<layers>.weight``."""
    config.required("exit_dim")  # the converter reads it, and gives no default
    shape: dict[str, Any] = {
        "hidden_size": config.required("hidden_size"),
        "head_layers": config.required("num_draft_layers"),
        "vocabulary_rows": config.number("vocab_size"),
    }
    if tensors is None:
        return shape
    found = [match for name in tensors if (match := _REDRAFTER_LAYER.fullmatch(name))]
    if not found:
        raise config.lacks("ReDrafter head", "lm_head.0.linear.weight")
    layers = 1 + max(int(match[2]) for match in found)
    rows = _rows(tensors, f"{found[0][1]}.{layers}.weight")
    return shape | {"head_layers": layers, "vocabulary_rows": rows}


def _rows(tensors: Tensors, name: str) -> int | None:
    tensor = tensors.get(name)
    return tensor.shape[0] if tensor is not None and tensor.shape else None


_READERS = {
    "medusa": _medusa,
    "eagle": _eagle,
    "redrafter": _redrafter,
    "eagle3": eagle3_shape,
    "dflash": dflash_shape,
    "mtp": mtp_shape,
}
_REFERENCE = {
    "medusa": medusa_shape,
    "eagle": eagle_shape,
    "eagle3": eagle3_fused_shape,
    "dflash": full_dflash_shape,
    "redrafter": redrafter_shape,
}
"""Kinds that the reference engine reads in another way."""

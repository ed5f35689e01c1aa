"""How large a drafter's parts are, from its tensors where they can be read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trtspec.errors import UsageError
from trtspec.methods.base import DrafterKind
from trtspec.models.config import CONFIG
from trtspec.models.tensor_header import TensorHeader

Tensors = Mapping[str, TensorHeader]

_MEDUSA_LAYER = re.compile(r"(\d+)\.(\d+)\.linear\.weight")
_EAGLE_LAYER = re.compile(r"(?:model\.)?layers\.(\d+)\.")
_EAGLE_EMBEDDINGS = ("embed_tokens.weight", "model.embed_tokens.weight")
_REDRAFTER_LAYER = re.compile(r"(lm_heads?|0)\.(\d+)\.linear\.weight")


@dataclass(frozen=True, slots=True, kw_only=True)
class DrafterShape:
    """Sizes of a drafter's parts; None is what the checkpoint does not tell.

    :param heads: Medusa heads.
    :param head_layers: residual layers of each Medusa head, or of ReDrafter's one.
    :param layers: transformer layers of an EAGLE drafter.
    :param hidden_size: size of the target's hidden states that it was trained on.
    :param vocabulary_rows: tokens that it can propose.
    :param has_fc_bias: whether EAGLE's first projection has a bias.
    """

    heads: int | None = None
    head_layers: int | None = None
    layers: int | None = None
    hidden_size: int | None = None
    vocabulary_rows: int | None = None
    has_fc_bias: bool | None = None


def shape_by_kind(
    directory: Path,
    kind: DrafterKind,
    config: Mapping[str, Any],
    tensors: Tensors | None,
) -> dict[str, Any]:
    """Read the sizes of a drafter's parts.

    :param kind: medusa, eagle or redrafter.
    :param tensors: None if the weights are pickled: then the configuration counts.
    :returns: the fields of ``DrafterShape`` that are known.
    :raises UsageError: if a part that TensorRT-LLM loads is missing, or a size makes no
        sense.
    """
    read = {"medusa": _medusa, "eagle": _eagle, "redrafter": _redrafter}[kind]
    configuration = _Configuration(directory, config)
    shape = read(configuration, tensors)
    return {key: value for key, value in shape.items() if value is not None}


@dataclass(frozen=True, slots=True)
class _Configuration:
    """The numbers in a drafter's ``config.json``."""

    directory: Path
    values: Mapping[str, Any]

    def number(self, key: str) -> int | None:
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        raise UsageError(
            f"{key} is {value!r}",
            where=str(self.directory / CONFIG),
            allowed="a whole number above 0",
        )

    def required(self, key: str) -> int:
        if (value := self.number(key)) is not None:
            return value
        raise UsageError(
            f"has no {key}",
            where=str(self.directory / CONFIG),
            allowed="a whole number above 0",
            action="give the configuration the drafter was trained with",
        )

    def lacks(self, part: str, example: str) -> UsageError:
        return UsageError(
            f"the weights hold no {part}: no tensor {example}",
            where=str(self.directory),
            action="give the checkpoint as it was published",
        )


def _medusa(config: _Configuration, tensors: Tensors | None) -> dict[str, Any]:
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


def _eagle(config: _Configuration, tensors: Tensors | None) -> dict[str, Any]:
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


def _configured_bias(config: _Configuration) -> bool | None:
    """EAGLE's own key for the bias of ``fc``; its absence proves nothing."""
    bias = config.values.get("bias")
    return bias if isinstance(bias, bool) else None


def _redrafter(config: _Configuration, tensors: Tensors | None) -> dict[str, Any]:
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

"""Whether the stored tensors are those of the model that config.json describes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from trtspec.errors import UsageError
from trtspec.models.info import ModelShape
from trtspec.models.tensor_header import TensorHeader

_EMBEDDINGS = (
    "model.embed_tokens.weight",
    "transformer.wte.weight",
    "wte.weight",
    "transformer.word_embeddings.weight",
    "gpt_neox.embed_in.weight",
    "model.decoder.embed_tokens.weight",
)
_LAYER = re.compile(r"model\.layers\.(\d+)\.")
_EXTRA_LAYERS = "num_nextn_predict_layers"
"""Layers that propose further tokens: stored behind the others, not counted there."""


def require_stored_as_described(
    path: Path,
    config: Mapping[str, Any],
    shape: ModelShape,
    tensors: Mapping[str, TensorHeader],
) -> None:
    """Hold the embedding's rows and the number of layers against the configuration.

    Tensors under names that are not known here tell nothing.

    :param path: the configuration's file, for messages.
    :raises UsageError: naming both numbers, if they differ.
    """
    for name in _EMBEDDINGS:
        if name in tensors and tensors[name].shape[:1] != (shape.vocabulary_rows,):
            rows = tensors[name].shape[0] if tensors[name].shape else 0
            raise _differs(
                path, f"vocab_size is {shape.vocabulary_rows}", f"{rows} rows of {name}"
            )
    stored = _layers(tensors)
    extra = config.get(_EXTRA_LAYERS)
    most = shape.layers + (extra if isinstance(extra, int) and extra > 0 else 0)
    if stored and not shape.layers <= stored <= most:
        raise _differs(path, f"num_hidden_layers is {shape.layers}", f"{stored} layers")


def _layers(names: Iterable[str]) -> int:
    """Count the layers by the highest index; 0 if no name has one."""
    found = filter(None, map(_LAYER.match, names))
    return max((int(match[1]) + 1 for match in found), default=0)


def _differs(path: Path, said: str, stored: str) -> UsageError:
    return UsageError(
        f"{said}, but the weights hold {stored}",
        where=str(path),
        action="fetch configuration and weights again, from one revision",
    )

"""Which files hold a drafter that is no model of its own, and which one is read.

The names and their order are those of TensorRT-LLM's loaders: Medusa heads in
``tensorrt_llm/models/medusa/weight.py``, EAGLE in
``tensorrt_llm/models/model_weights_loader.py``, ReDrafter in
``examples/redrafter/convert_checkpoint.py``, EAGLE-3 and DFlash in
``tensorrt_llm/_torch/models/checkpoints/hf/weight_loader.py``. The reference backend
reads all of them, safetensors first, and what its own build writes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from trtspec.methods.base import DrafterKind
from trtspec.models.pickled import PICKLED, PICKLED_INDEX, pickled_files
from trtspec.models.weights import INDEX, SINGLE, weight_files

Loader = Literal["tensorrt_llm", "reference"]
"""Who loads a drafter: TensorRT-LLM, whichever backend, or the reference engine."""

DRAFTER_SETTINGS = ("config.json", "hf_quant_config.json")
"""No tokenizer: a drafter speaks the target's tokens."""

_AS_MODELS = (SINGLE, INDEX, PICKLED, PICKLED_INDEX)

DRAFTER_WEIGHTS: dict[DrafterKind, tuple[str, ...]] = {
    "medusa": ("medusa_lm_head.pt", "medusa_lm_head.safetensors"),
    "eagle": _AS_MODELS,
    "eagle3": _AS_MODELS,
    "dflash": _AS_MODELS,
    "mtp": _AS_MODELS,
    "redrafter": (SINGLE, "model.pt"),
}
"""Kind → the names that TensorRT-LLM looks for; the first that is there is loaded."""

_OWN_NAMES: dict[DrafterKind, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "medusa": (("medusa_lm_head.safetensors",), ("medusa_lm_head.pt",)),
    "redrafter": ((), ("model.pt",)),
}
"""Kind → names of its own, as safetensors and pickled, beside those of models."""


def loader_of(backend: str) -> Loader:
    """Say who loads the drafters of a backend."""
    return "reference" if backend == "reference" else "tensorrt_llm"


def drafter_weight_names(kind: DrafterKind, loader: Loader) -> tuple[str, ...]:
    """Give the names that are looked for, in this order.

    :param kind: any but a model.
    """
    if loader == "tensorrt_llm":
        return DRAFTER_WEIGHTS[kind]
    safe, pickled = _OWN_NAMES.get(kind, ((), ()))
    return (*safe, SINGLE, INDEX, *pickled, PICKLED, PICKLED_INDEX)


def drafter_weight_files(
    directory: Path, kind: DrafterKind, loader: Loader
) -> tuple[str, ...]:
    """Name the weight files (and index) that are loaded; empty if there are none.

    :param kind: any but a model.
    :raises UsageError: if the index of sharded weights is damaged.
    """
    names = drafter_weight_names(kind, loader)
    found = next((name for name in names if (directory / name).is_file()), None)
    if found is None:
        return ()
    if found == INDEX:
        return weight_files(directory)
    return pickled_files(directory) if found == PICKLED_INDEX else (found,)


def is_pickled(name: str) -> bool:
    """Whether a weight file can run code when it is loaded."""
    return not name.endswith((".safetensors", INDEX))

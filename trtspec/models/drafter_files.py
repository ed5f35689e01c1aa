"""Which files hold a drafter that is no model of its own, and which one is read.

The names and their order are those of TensorRT-LLM's loaders: Medusa heads in
``tensorrt_llm/models/medusa/weight.py``, EAGLE in
``tensorrt_llm/models/model_weights_loader.py``, ReDrafter in
``examples/redrafter/convert_checkpoint.py``, EAGLE-3 and DFlash in
``tensorrt_llm/_torch/models/checkpoints/hf/weight_loader.py``.
"""

from __future__ import annotations

from pathlib import Path

from trtspec.methods.base import DrafterKind
from trtspec.models.pickled import PICKLED, PICKLED_INDEX, pickled_files
from trtspec.models.weights import INDEX, SINGLE, weight_files

DRAFTER_SETTINGS = ("config.json", "hf_quant_config.json")
"""No tokenizer: a drafter speaks the target's tokens."""

_AS_MODELS = (SINGLE, INDEX, PICKLED, PICKLED_INDEX)

DRAFTER_WEIGHTS: dict[DrafterKind, tuple[str, ...]] = {
    "medusa": ("medusa_lm_head.pt", "medusa_lm_head.safetensors"),
    "eagle": _AS_MODELS,
    "eagle3": _AS_MODELS,
    "dflash": _AS_MODELS,
    "redrafter": (SINGLE, "model.pt"),
}
"""Kind → the names looked for; the first that is there is loaded."""


def drafter_weight_files(directory: Path, kind: DrafterKind) -> tuple[str, ...]:
    """Name the weight files (and index) that are loaded; empty if there are none.

    :param kind: any but a model.
    :raises UsageError: if the index of sharded weights is damaged.
    """
    if DRAFTER_WEIGHTS[kind] == _AS_MODELS:
        return weight_files(directory) or pickled_files(directory)
    return tuple(
        name for name in DRAFTER_WEIGHTS[kind] if (directory / name).is_file()
    )[:1]


def is_pickled(name: str) -> bool:
    """Whether a weight file can run code when it is loaded."""
    return not name.endswith((".safetensors", INDEX))

"""How a recipe for TensorRT-LLM is traced: as the same recipe on backend reference.

What a drafter has accepted depends on the models and the prompts, not on the engine.
What does change the target's answers, such as quantization, is left out and told.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import psutil

from trtspec.recipe.schema import Recipe, Target

ROOM = 0.9
"""Share of the available memory that a target's weights may take."""


class Twin(NamedTuple):
    """A recipe's twin on backend reference.

    :ivar notes: what is different in it and may change what is accepted.
    """

    recipe: Recipe
    notes: tuple[str, ...]


def reference_twin(recipe: Recipe) -> Twin:
    """Give the recipe as backend reference runs it; itself if it is one of its own."""
    if recipe.backend == "reference":
        return Twin(recipe, ())
    target = recipe.target
    notes = []
    if target.quantization != "none":
        notes.append(
            f"traces are of {target.dtype} weights, the recipe's target is quantized "
            f"({target.quantization}): its answers, and what is accepted, may differ"
        )
    changes: dict[str, object] = {
        "backend": "reference",
        "target": _whole(target),
        "engine": None,
        "pytorch": None,
    }
    return Twin(recipe.model_copy(update=changes), tuple(notes))


def too_large(target: Path) -> str:
    """Say why a target cannot be loaded on backend reference here; empty if it can.

    :param target: directory of its converted checkpoint.
    """
    weights = sum(file.stat().st_size for file in target.glob("*.safetensors"))
    available = psutil.virtual_memory().available
    if weights <= ROOM * available:
        return ""
    return (
        f"its weights take {weights / 1e9:.1f} GB, and {available / 1e9:.1f} GB of "
        "memory are available"
    )


def _whole(target: Target) -> Target:
    return target.model_copy(update={"quantization": "none", "tensor_parallel": 1})

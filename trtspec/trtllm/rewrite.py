"""What a recipe for engines becomes on TensorRT-LLM's backend pytorch.

What that has is from docs/source/features/speculative-decoding.md and
docs/source/features/quantization.md of TensorRT-LLM.
"""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.methods import DraftTarget, NGram
from trtspec.recipe import Recipe

PYTORCH_BACKEND = ">=1.0"
"""Versions of TensorRT-LLM that have backend pytorch."""
EQUIVALENT = frozenset({"none", "ngram", "draft_target"})
"""Methods that backend pytorch has too."""
QUANTIZED = frozenset({"none", "fp8", "nvfp4", "int4_awq"})
"""Quantizations that it reads from checkpoints; it quantizes nothing itself."""


def pytorch_recipe(recipe: Recipe) -> Recipe | None:
    """Rewrite a recipe for backend pytorch; None if that lacks the method.

    What only engines have goes: the section ``engine``; quantizing the draft model, and
    acceptance by its logits; n-gram's draft length by batch; and a quantization of the
    target model that backend pytorch does not read.
    """
    method = recipe.speculation
    if method.method not in EQUIVALENT:
        return None
    without: dict[str, object] = {}
    if isinstance(method, DraftTarget):
        without = {"quantization": "none", "use_draft_logits": False}
    elif isinstance(method, NGram):
        without = {"draft_length": method.longest_draft}
    target = recipe.target
    if target.quantization not in QUANTIZED:
        target = target.model_copy(update={"quantization": "none"})
    changed = {
        "backend": "pytorch",
        "engine": None,
        "target": target,
        "speculation": method.model_copy(update=without),
    }
    return recipe.model_copy(update=changed)


def rewriting_notes(recipe: Recipe) -> Iterator[str]:
    """Say what the reader must know of a rewritten recipe."""
    method = recipe.speculation
    if isinstance(method, NGram) and not isinstance(method.draft_length, int):
        yield "ngram has one draft length for every batch there, here the longest"
    if isinstance(method, DraftTarget) and method.quantization != "none":
        yield "the draft model is taken as it is, not quantized"
    quantization = recipe.target.quantization
    if quantization not in QUANTIZED:
        yield f"it has no {quantization}, so the target model is not quantized"
    elif quantization != "none":
        yield f"target.model must name a checkpoint that is quantized ({quantization})"

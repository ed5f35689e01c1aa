"""What a recipe for engines becomes on TensorRT-LLM's backend pytorch.

What that has is from docs/source/features/speculative-decoding.md and
docs/source/features/quantization.md of TensorRT-LLM.
"""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.methods import DraftTarget, NGram
from trtspec.recipe import Recipe
from trtspec.trtllm.pytorch.compile.schedule import longest, reachable

EQUIVALENT = frozenset({"none", "ngram", "draft_target"})
"""Methods that backend pytorch has too."""
QUANTIZED = frozenset({"none", "fp8", "nvfp4", "int4_awq"})
"""Quantizations that it reads from checkpoints, and that ModelOpt makes."""


def pytorch_recipe(recipe: Recipe) -> Recipe | None:
    """Rewrite a recipe for backend pytorch; None if that lacks the method.

    What only engines have goes: the section ``engine``; quantizing the draft model, and
    acceptance by its logits; and a quantization of the target model that backend
    pytorch does not read. A map of draft lengths stays: releases differ in what they
    make of it.
    """
    method = recipe.speculation
    if method.method not in EQUIVALENT:
        return None
    without: dict[str, object] = {}
    if isinstance(method, DraftTarget):
        without = {"quantization": "none", "use_draft_logits": False}
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


def rewriting_notes(recipe: Recipe, *, by_batch: bool = True) -> Iterator[str]:
    """Say what the reader must know of a rewritten recipe.

    :param by_batch: speak of draft lengths by batch too; not where it is compiled for
        one version, which says more.
    """
    method = recipe.speculation
    if by_batch:
        yield from _lengths_note(recipe)
    if isinstance(method, DraftTarget) and method.quantization != "none":
        yield "the draft model is taken as it is, not quantized"
    quantization = recipe.target.quantization
    if quantization not in QUANTIZED:
        yield f"it has no {quantization}, so the target model is not quantized"
    elif quantization != "none":
        yield f"build quantizes the target model ({quantization}) with NVIDIA ModelOpt"


def _lengths_note(recipe: Recipe) -> Iterator[str]:
    method = recipe.speculation
    if not isinstance(method, NGram):
        return
    length = reachable(method.draft_length, recipe.limits.max_batch_size)
    if not isinstance(length, int) and len(length) > 1:
        yield (
            "on 1.3 and newer ngram has one draft length for every batch: write "
            f"draft_length: {longest(length)} there"
        )

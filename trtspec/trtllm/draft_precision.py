"""In which types target and drafter compute, where one of them is quantized."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.methods import DFlash, Eagle3, Medusa, Mtp, ReDrafter
from trtspec.models.drafter import DrafterInfo
from trtspec.recipe.engine import EngineOptions
from trtspec.recipe.pytorch import PyTorchOptions
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.pytorch.build.stored import stored_quantization

_READ_STATES = (Eagle3, DFlash, Medusa, ReDrafter)
"""Methods whose drafter was trained on the target's hidden states, and that run with a
quantized target: EAGLE on engines does not."""
_TRAINED_ON = "https://github.com/vllm-project/vllm/issues/9534"
_QUANTIZED_HEADS = "https://github.com/vllm-project/llm-compressor/issues/1843"
_MEASURE = "measure acceptance on the same prompts with the target as it was before"


def precision_of_each_model(_: Installation, subject: Subject) -> Iterator[Finding]:
    """State both models' types where a drafter meets a quantized target."""
    method, weights = subject.recipe.speculation, _target_weights(subject)
    if weights == "none":
        return
    target = f"target: {weights} weights, KV cache {_cache(subject)}"
    values = {"target_weights": weights, "target_kv_cache": _cache(subject)}
    if isinstance(method, Mtp):
        yield Finding(
            "draft-precision",
            "note",
            subject.where("target", "quantization"),
            f"{target}; its next-token heads are part of the same checkpoint",
            "where these heads were quantized with the rest, no draft at all was "
            "accepted in one report",
            "see with trtspec inspect whether they are, and keep them in 16 bits",
            source=_QUANTIZED_HEADS,
            values=values,
        )
    elif isinstance(method, _READ_STATES):
        drafter = _drafter(subject.drafter)
        yield Finding(
            "draft-precision",
            "note",
            subject.where("target", "quantization"),
            f"{target}; {method.method} drafter: {drafter} weights",
            "it was trained on the hidden states of another copy of the target: those "
            "of a quantized one differ, and fewer drafts may be accepted, down to none",
            _MEASURE,
            source=_TRAINED_ON,
            values=values | {"drafter_weights": drafter},
        )


def _target_weights(subject: Subject) -> str:
    """What the target's weights are quantized with, as stored or as asked for."""
    asked = subject.recipe.target.quantization
    if asked != "none" or subject.target is None:
        return asked
    return stored_quantization(subject.target)


def _cache(subject: Subject) -> str:
    recipe, target = subject.recipe, subject.target
    options: EngineOptions | PyTorchOptions = recipe.engine or EngineOptions()
    if recipe.backend == "pytorch":
        options = recipe.pytorch or PyTorchOptions()
    if options.kv_cache != "auto":
        return options.kv_cache
    return (target.published_kv_cache if target is not None else None) or "auto"


def _drafter(drafter: DrafterInfo | None) -> str:
    if drafter is None:
        return "unknown"
    if drafter.quantization != "none":
        return drafter.quantization
    return drafter.dtype or "unknown"

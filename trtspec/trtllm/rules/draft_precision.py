"""In which types target and drafter compute, where one of them is quantized."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.memory.cache_types import target_cache_type
from trtspec.check.subject import Subject
from trtspec.methods import DFlash, Eagle3, Medusa, Mtp, ReDrafter
from trtspec.models.drafter import DrafterInfo
from trtspec.models.info import ModelInfo
from trtspec.models.inspection_quantization import is_quantized
from trtspec.models.next_token import next_token_prefixes
from trtspec.models.stored_files import stored_files
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.stored import stored_quantization

_READ_STATES = (Eagle3, DFlash, Medusa, ReDrafter)
"""Methods whose drafter was trained on the target's hidden states, and that run with a
quantized target: EAGLE on engines does not."""
_TRAINED_ON = "https://github.com/vllm-project/vllm/issues/9534"
_QUANTIZED_HEADS = "https://github.com/vllm-project/llm-compressor/issues/1843"
_HEADS = {
    True: "its next-token heads are quantized too",
    False: "its next-token heads are not quantized",
    None: "whether its next-token heads are quantized is not known: no tensors to see",
}
_TO_DO = {
    True: "measure acceptance before it serves; if no draft is accepted, take a "
    "checkpoint whose heads are in 16 bits",
    False: "",
    None: "check again once the weights are here, as safetensors",
}
_MEASURE = "measure acceptance on the same prompts with the target as it was before"


def precision_of_each_model(_: Installation, subject: Subject) -> Iterator[Finding]:
    """State both models' types where a drafter meets a quantized target."""
    method, weights = subject.recipe.speculation, _target_weights(subject)
    if weights == "none":
        return
    cache = target_cache_type(subject.recipe, subject.target)
    target = f"target: {weights} weights, KV cache {cache}"
    values = {"target_weights": weights, "target_kv_cache": cache}
    if isinstance(method, Mtp):
        quantized = _heads_are_quantized(subject.target)
        yield Finding(
            "draft-precision",
            "note",
            subject.where("target", "quantization"),
            f"{target}; {_HEADS[quantized]}",
            "so nothing of the drafter is lost to quantization"
            if quantized is False
            else "where these heads were quantized with the rest, no draft at all was "
            "accepted in one report",
            _TO_DO[quantized],
            source=_QUANTIZED_HEADS,
            values=values | {"heads_quantized": quantized},
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


def _heads_are_quantized(target: ModelInfo | None) -> bool | None:
    """Whether the next-token heads are, by their tensors; None if that is not known."""
    if target is None or target.directory is None:
        return None
    tensors = stored_files(target.directory).tensors
    prefixes = next_token_prefixes(tensors)
    return is_quantized(tensors, prefixes) if prefixes else None


def _target_weights(subject: Subject) -> str:
    """What the target's weights are quantized with, as stored or as asked for."""
    asked = subject.recipe.target.quantization
    if asked != "none" or subject.target is None:
        return asked
    return stored_quantization(subject.target)


def _drafter(drafter: DrafterInfo | None) -> str:
    if drafter is None:
        return "unknown"
    if drafter.quantization != "none":
        return drafter.quantization
    return drafter.dtype or "unknown"

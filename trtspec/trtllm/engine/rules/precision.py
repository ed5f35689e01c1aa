"""Whether weights and KV cache can have the types that the recipe asks for."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.methods import DraftTarget, Eagle, Lookahead, Medusa, NGram, ReDrafter
from trtspec.recipe import Recipe
from trtspec.trtllm import facts
from trtspec.trtllm.engine.convert import (
    TWO_STEPS,
    draft_kv_cache_of,
    is_quantized,
    kv_cache_of,
)
from trtspec.trtllm.installation import Installation

_KEEPS_FP8_CACHE = ("fp8", "nvfp4")
"""Weights with which an FP8 KV cache keeps paged context FMHA (builder.py)."""
_FIRST_FP8, _FIRST_BLACKWELL, _AFTER_BLACKWELL = 89, 100, 120
_NOT_ON_BLACKWELL = ("int8_sq", "int8_wo", "int4_awq")


def quantized_eagle(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse to quantize EAGLE: only ModelOpt makes such checkpoints, in one piece."""
    target = subject.recipe.target
    if not isinstance(subject.recipe.speculation, Eagle):
        return
    if target.quantization != "none" or kv_cache_of(subject.recipe):
        yield Finding(
            "quantization",
            "blocking",
            subject.where("target", "quantization"),
            f"quantization {target.quantization} with method eagle",
            "quantize.py knows no EAGLE head; a quantized one exists only as a single "
            "ModelOpt checkpoint of base and head, which trtspec does not make",
            "set quantization: none and kv_cache: auto, or choose another method",
        )


def quantized_redrafter(
    installation: Installation, subject: Subject
) -> Iterator[Finding]:
    """Refuse to quantize ReDrafter where its script converts the target itself."""
    version, recipe = installation.version, subject.recipe
    if version is None or not facts.has_backend(version):
        return
    if not isinstance(recipe.speculation, ReDrafter) or not is_quantized(recipe):
        return
    if TWO_STEPS not in facts.flags("redrafter", version):
        yield Finding(
            "quantization",
            "blocking",
            subject.where("target", "quantization"),
            f"quantization {recipe.target.quantization} and kv_cache "
            f"{kv_cache_of(recipe) or 'auto'} with method redrafter on TensorRT-LLM "
            f"{version}",
            "its script converts the target model itself there; one that takes a "
            "quantized checkpoint is established from 1.0 on",
            "set quantization: none and kv_cache: auto, or take a later version",
        )


def kv_cache_is_reusable(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse KV cache types that switch the reuse of blocks off where it is needed."""
    recipe = subject.recipe
    if not isinstance(recipe.speculation, DraftTarget | NGram | Eagle):
        return
    for section, weights, cache in _types(recipe):
        if cache == "int8" or (cache == "fp8" and weights not in _KEEPS_FP8_CACHE):
            yield Finding(
                "kv-cache",
                "blocking",
                subject.where("engine", "kv_cache"),
                f"kv_cache {cache} with {recipe.speculation.method} and "
                f"{section}.quantization {weights}",
                "the builder then switches paged context FMHA off, and with it the "
                "reuse of KV cache blocks that the method needs "
                "(tensorrt_llm/builder.py)",
                f"set engine.kv_cache to auto, or {section}.quantization to fp8 with "
                "kv_cache auto or fp8",
            )


def gpu_has_the_type(installation: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse types that the GPU here does not have, as far as it is known."""
    capability = _capability(installation)
    if capability is None:
        return
    blackwell = _FIRST_BLACKWELL <= capability < _AFTER_BLACKWELL
    for section, weights, cache in _types(subject.recipe):
        where = subject.where(section, "quantization")
        if "fp8" in (weights, cache) and capability < _FIRST_FP8:
            yield Finding(
                "gpu-type",
                "blocking",
                where,
                f"fp8 on a GPU of compute capability {capability / 10:.1f}",
                "FP8 begins with compute capability 8.9",
                "choose int8_sq or int4_awq, or another GPU",
            )
        if blackwell and (weights in _NOT_ON_BLACKWELL or cache == "int8"):
            yield Finding(
                "gpu-type",
                "blocking",
                where,
                f"quantization {weights}, kv_cache {cache or 'auto'} on a GPU of "
                f"compute capability {capability / 10:.1f}",
                "the builder refuses INT8 and INT4 weights and INT8 KV cache there "
                "(tensorrt_llm/builder.py)",
                "choose fp8 or nvfp4",
            )


def format_exists(installation: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse quantizations that quantize.py of this version does not know."""
    version = installation.version
    if version is None or not facts.has_backend(version):
        return
    flag = facts.flags("quantize", version).get("--qformat")
    known = () if flag is None else flag.choices or ()
    wanted = {"target": subject.recipe.target.quantization}
    if isinstance(subject.recipe.speculation, DraftTarget):
        wanted["speculation"] = subject.recipe.speculation.quantization
    for section, quantization in wanted.items():
        if quantization not in ("none", *known):
            yield Finding(
                "quantization",
                "blocking",
                subject.where(section, "quantization"),
                f"quantization {quantization} is not established for quantize.py of "
                f"TensorRT-LLM {version}",
                f"it knows: {', '.join(known)}",
                "choose one of these, or a later version",
            )


def documented_type(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Warn of types that the method's documentation does not list."""
    recipe = subject.recipe
    if recipe.target.dtype == "float32" and isinstance(
        recipe.speculation, Medusa | Eagle | Lookahead
    ):
        yield Finding(
            "precision",
            "warning",
            subject.where("target", "dtype"),
            f"float32 with method {recipe.speculation.method}",
            f"examples/{recipe.speculation.method}/README.md lists float16, bfloat16",
            "write dtype: bfloat16 or float16",
        )


def _types(recipe: Recipe) -> Iterator[tuple[str, str, str]]:
    """Give, per model, its section, the type of its weights and that of its cache."""
    yield "target", recipe.target.quantization, kv_cache_of(recipe)
    method = recipe.speculation
    if isinstance(method, DraftTarget):
        yield "speculation", method.quantization, draft_kv_cache_of(recipe)


def _capability(installation: Installation) -> int | None:
    """Give the compute capability of the first GPU as 90 for 9.0; None if unknown."""
    first = next(iter(installation.gpus), None)
    if first is None or first.compute_capability is None:
        return None
    return int(first.compute_capability.replace(".", ""))

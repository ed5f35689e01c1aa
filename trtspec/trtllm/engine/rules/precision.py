"""Whether weights and KV cache can have the types that the recipe asks for."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.methods import DraftTarget, Eagle, Lookahead, Medusa, ReDrafter
from trtspec.trtllm import facts
from trtspec.trtllm.engine.calibration import local_dataset, names_a_path
from trtspec.trtllm.engine.convert import TWO_STEPS
from trtspec.trtllm.engine.quantization import (
    draft_is_quantized,
    is_quantized,
    keeps_paged_context,
    kv_cache_of,
)
from trtspec.trtllm.engine.rules.types import types_of
from trtspec.trtllm.engine.sizes import drafts_come_from_outside, options
from trtspec.trtllm.installation import Installation

_PACKED = ("float8", "float4", "int8", "uint8")
"""How the types of quantized weights begin."""


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


def quantized_medusa_heads(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Warn of Medusa heads that are stored quantized.

    Reported of 0.11, for heads that quantize.py had made; no source settles what later
    releases do.
    """
    heads = subject.drafter
    if not isinstance(subject.recipe.speculation, Medusa) or heads is None:
        return
    stored = heads.quantization
    if stored == "none":
        stored = heads.dtype or ""
        if not stored.startswith(_PACKED):
            return
    yield Finding(
        "stored-quantization",
        "warning",
        subject.where_model("draft"),
        f"the medusa drafter's weights are stored as {stored}",
        "an engine with quantized Medusa heads was reported not to build on "
        "TensorRT-LLM 0.11; whether a later one does is not established",
        "give the heads as they were before quantization",
        source="https://github.com/NVIDIA/TensorRT-LLM/issues/2115",
        values={"stored": stored},
    )


def kv_cache_is_reusable(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse KV cache types that switch the reuse of blocks off where it is needed."""
    recipe = subject.recipe
    if not drafts_come_from_outside(recipe):  # EAGLE goes unquantized altogether
        return
    for section, weights, cache in types_of(recipe):
        if not keeps_paged_context(weights, cache):
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


def blocks_are_read_in_this_type(
    _: Installation, subject: Subject
) -> Iterator[Finding]:
    """Refuse float32 where the method needs the reuse of KV cache blocks."""
    recipe = subject.recipe
    needed = drafts_come_from_outside(recipe) or isinstance(recipe.speculation, Eagle)
    if needed and recipe.target.dtype == "float32":
        yield Finding(
            "precision",
            "blocking",
            subject.where("target", "dtype"),
            f"float32 with method {recipe.speculation.method}",
            "attention falls back to unfused kernels in float32, which do not read the "
            "KV cache blocks of earlier requests (cpp/tensorrt_llm/plugins/"
            "gptAttentionCommon/gptAttentionCommon.cpp)",
            "write dtype: bfloat16 or float16",
        )


def calibration_is_there(
    installation: Installation, subject: Subject
) -> Iterator[Finding]:
    """Refuse a calibration dataset that is named as a folder and is none here."""
    named = options(subject.recipe).calibration_dataset
    if installation.assumed or not named or not names_a_path(named):
        return
    if local_dataset(subject.recipe, subject.base) is None:
        yield Finding(
            "calibration",
            "blocking",
            subject.where("engine", "calibration_dataset"),
            f"calibration_dataset {named} is no folder on this machine",
            "quantize.py would look for it on the hub",
            "give a folder, relative to the recipe, or the id of a dataset on the hub",
        )


def calibration_has_an_effect(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Warn of calibration where nothing is quantized."""
    recipe, chosen = subject.recipe, options(subject.recipe)
    method = recipe.speculation
    drafts = isinstance(method, DraftTarget) and draft_is_quantized(recipe, method)
    if is_quantized(recipe) or drafts:
        return
    for key in ("calibration_dataset", "calibration_samples"):
        if value := getattr(chosen, key):
            yield Finding(
                "calibration",
                "warning",
                subject.where("engine", key),
                f"{key} {value} has no effect",
                "neither weights nor KV cache are quantized",
                f"delete engine.{key}, or set target.quantization",
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
        recipe.speculation, Medusa | Lookahead
    ):
        yield Finding(
            "precision",
            "warning",
            subject.where("target", "dtype"),
            f"float32 with method {recipe.speculation.method}",
            f"examples/{recipe.speculation.method}/README.md lists float16, bfloat16",
            "write dtype: bfloat16 or float16",
        )

"""Whether the GPUs here have the types that the recipe asks for, and are enough."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import SECTION, Role, Subject
from trtspec.methods import DraftTarget
from trtspec.trtllm import facts
from trtspec.trtllm.capability import capability_of
from trtspec.trtllm.engine.rules.types import ModelTypes, types_of
from trtspec.trtllm.engine.sizes import options
from trtspec.trtllm.installation import Installation

_FIRST_BLACKWELL, _AFTER_BLACKWELL = 100, 120
_NOT_ON_BLACKWELL = ("int8_sq", "int8_wo", "int4_awq")


def gpu_is_visible(installation: Installation, _: Subject) -> Iterator[Finding]:
    """Refuse a machine with TensorRT-LLM on which no GPU is seen."""
    version = installation.version
    if installation.assumed or version is None or not facts.has_backend(version):
        return
    if not installation.gpus:
        yield Finding(
            "gpu",
            "blocking",
            "installation",
            "no GPU is visible: engines can be neither built nor run here",
            installation.why_absent("gpus"),
            "run it where one is (docker: --gpus all); "
            f"trtspec plan RECIPE --trtllm {version} needs none",
        )


def gpu_has_the_type(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse types that the GPU does not have: the one asked about, or that here."""
    capability = capability_of(subject)
    if capability is None:
        return
    first_fp8 = facts.number_of("fp8_hardware")
    is_blackwell = _FIRST_BLACKWELL <= capability < _AFTER_BLACKWELL
    for model in types_of(subject.recipe):
        weights, cache = model.weights, model.cache
        if weights == "fp8" and capability < first_fp8:
            yield _weights(
                subject, model, capability, "has no FP8: that begins with 8.9",
                "choose int8_sq or int4_awq, or another GPU",
            )  # fmt: skip
        elif weights == "nvfp4" and capability < facts.number_of("nvfp4_hardware"):
            yield _weights(
                subject, model, capability,
                "has no FP4: that begins with 10.0, Blackwell "
                "(docs/source/reference/support-matrix.md)",
                "choose fp8 on 8.9 or newer, else int4_awq, or another GPU",
            )  # fmt: skip
        elif cache == "fp8" and capability < first_fp8:
            yield _cache(subject, cache, capability, "has no FP8: that begins with 8.9")
        if is_blackwell and weights in _NOT_ON_BLACKWELL:
            yield _weights(
                subject, model, capability,
                "has no INT8 and INT4 weights: the builder refuses them on 10.0 to "
                "11.9 (tensorrt_llm/builder.py)",
                "choose fp8 or nvfp4",
            )  # fmt: skip
        if is_blackwell and cache == "int8":
            why = "has no INT8 KV cache: the builder refuses it on 10.0 to 11.9 "
            yield _cache(subject, cache, capability, f"{why}(tensorrt_llm/builder.py)")


def gpus_suffice(installation: Installation, subject: Subject) -> Iterator[Finding]:
    """Warn of a model that more GPUs share than are visible here."""
    here = len(installation.gpus)
    method = subject.recipe.speculation
    sizes: dict[Role, int] = {"target": subject.recipe.target.tensor_parallel}
    if isinstance(method, DraftTarget):
        sizes["draft"] = method.tensor_parallel
    for role, size in sizes.items():
        if here and size > here:
            yield Finding(
                "tensor-parallel",
                "warning",
                subject.where(SECTION[role], "tensor_parallel"),
                f"tensor_parallel {size} of the {role} model, with {here} visible "
                f"GPU{'s' if here > 1 else ''}",
                "its engine can be built here, one part after another, but not run",
                f"run it where {size} GPUs are visible (CUDA_VISIBLE_DEVICES), or "
                f"lower tensor_parallel to {here}",
            )


def _weights(
    subject: Subject, model: ModelTypes, capability: int, why: str, action: str
) -> Finding:
    where = subject.where(model.section, "quantization")
    what = f"quantization {model.weights} on a GPU of compute capability "
    return _finding(where, what, capability, why, action)


def _cache(subject: Subject, cache: str, capability: int, why: str) -> Finding:
    # auto follows from weights that have their own finding
    assert options(subject.recipe).kv_cache == cache, "a chosen type"
    where = subject.where("engine", "kv_cache")
    what = f"kv_cache {cache} on a GPU of compute capability "
    return _finding(where, what, capability, why, "set engine.kv_cache to auto")


def _finding(where: str, what: str, capability: int, why: str, action: str) -> Finding:
    number = f"{capability / 10:.1f}"
    why = f"compute capability {number} {why}"
    return Finding("gpu-type", "blocking", where, f"{what}{number}", why, action)

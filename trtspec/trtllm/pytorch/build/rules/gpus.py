"""Whether the GPUs here have the types that the recipe asks for, and are enough."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.errors import TrtspecError
from trtspec.trtllm import facts
from trtspec.trtllm.capability import capability_of
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.pytorch.build.quantize import options
from trtspec.trtllm.pytorch.launch.ranks import ranks_of

_NO_FP8 = "has no FP8: that begins with 8.9"
_NO_FP4 = (
    "has no FP4: that begins with 10.0, Blackwell "
    "(docs/source/reference/support-matrix.md)"
)


def gpu_is_visible(installation: Installation, subject: Subject) -> Iterator[Finding]:
    """Tell that nothing can be run where no GPU is seen."""
    if installation.assumed or installation.package is None or installation.gpus:
        return
    yield Finding(
        "gpu",
        "warning",
        subject.where("backend"),
        "no GPU is visible: an artifact can be built here, but not run",
        installation.why_absent("gpus"),
        "run it where one is (docker: --gpus all)",
    )


_PLAIN = {"quantization": "none", "kv_cache": "auto"}
"""What every GPU has."""


def gpu_has_the_type(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse types that the GPU does not have: the one asked about, or that here."""
    capability = capability_of(subject)
    if capability is None:
        return
    wanted = {
        ("target", "quantization"): subject.recipe.target.quantization,
        ("pytorch", "kv_cache"): options(subject.recipe).kv_cache,
    }
    for (section, key), kind in wanted.items():
        why = _lacks(capability, kind)
        if why:
            number = f"{capability / 10:.1f}"
            yield Finding(
                "gpu-type",
                "blocking",
                subject.where(section, key),
                f"{key} {kind} on a GPU of compute capability {number}",
                f"compute capability {number} {why}",
                f"write {section}.{key}: {_PLAIN[key]}, or use another GPU",
            )


def _lacks(capability: int, kind: str) -> str:
    if kind == "fp8" and capability < facts.number_of("fp8_hardware"):
        return _NO_FP8
    if kind == "nvfp4" and capability < facts.number_of("nvfp4_hardware"):
        return _NO_FP4
    return ""


def gpus_suffice(installation: Installation, subject: Subject) -> Iterator[Finding]:
    """Hold the GPUs of one node against those that are visible here."""
    try:
        ranks = ranks_of(subject.recipe)
    except TrtspecError as error:
        problem = error.problems[0]
        where = subject.where("pytorch", "gpus_per_node")
        why = "each node runs the same number of processes"
        action = f"write {problem.allowed}"
        yield Finding("nodes", "blocking", where, problem.what, why, action)
        return
    here = len(installation.gpus)
    if here and ranks.per_node > here:
        yield Finding(
            "tensor-parallel",
            "warning",
            subject.where("target", "tensor_parallel"),
            f"{ranks.per_node} GPUs of one node share the model, with {here} visible "
            f"GPU{'s' if here > 1 else ''}",
            "its artifact can be built here, but not run",
            f"run it where {ranks.per_node} GPUs are visible (CUDA_VISIBLE_DEVICES), "
            f"lower tensor_parallel to {here}, or say pytorch.gpus_per_node",
        )

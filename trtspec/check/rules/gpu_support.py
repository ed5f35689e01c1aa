"""Whether the GPU is one that TensorRT-LLM is made for."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject

_OLDEST_CAPABILITY = 80
_SUPPORT = "https://nvidia.github.io/TensorRT-LLM/0.18.2/reference/support-matrix.html"
_SERVED = ("tensorrt", "pytorch")


def gpu_is_supported(subject: Subject) -> Iterator[Finding]:
    """Refuse GPUs that are older than those TensorRT-LLM is tested on."""
    if subject.recipe.backend not in _SERVED:
        return
    for gpu in {gpu.name: gpu for gpu in subject.gpus}.values():
        capability = gpu.capability
        if capability is not None and capability < _OLDEST_CAPABILITY:
            yield Finding(
                "gpu-support",
                "blocking",
                subject.where("backend"),
                f"{gpu.name} has compute capability {gpu.compute_capability}",
                "the oldest that TensorRT-LLM lists as supported is Ampere, 8.0",
                "use an Ampere GPU or a newer one, or backend: reference",
                source=_SUPPORT,
                values={"compute_capability": gpu.compute_capability},
            )

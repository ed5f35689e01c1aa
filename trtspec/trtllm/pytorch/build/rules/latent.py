"""Which features TensorRT-LLM switches off for multi-head latent attention."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.trtllm.capability import capability_of
from trtspec.trtllm.facts.families import Family, family_of
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.pytorch.build.quantize import options
from trtspec.trtllm.pytorch.build.rules.checkpoint import has_latent_attention

_SOURCE = "tensorrt_llm/_torch/pyexecutor/py_executor_creator.py"
_NOT_READ: tuple[Family, ...] = ("1.0", "1.1")
_GPUS = (90, 100, 103, 120)
_CACHES = ("auto", "fp8")


def features_of_latent_attention(
    installation: Installation, subject: Subject
) -> Iterator[Finding]:
    """Warn of what is switched off on this GPU, or with this KV cache.

    It was read in 1.2 and later; what 1.0 and 1.1 do is not established.
    """
    target, chosen = subject.target, options(subject.recipe)
    if target is None or not has_latent_attention(target):
        return
    version = installation.version
    if version is not None and family_of(version) in _NOT_READ:
        return
    if chosen.block_reuse and chosen.kv_cache not in _CACHES:
        why = "it needs an unquantized KV cache or an fp8 one"
        what = f"block_reuse with kv_cache {chosen.kv_cache}"
        yield _switched_off(subject, "block_reuse", what, why)
    capability = capability_of(subject)
    if capability is None or capability in _GPUS:
        return
    why = "it needs compute capability 9.0, 10.0, 10.3 or 12.0"
    for key in ("block_reuse", "chunked_prefill"):
        if getattr(chosen, key):
            what = f"{key} on a GPU of compute capability {capability / 10:.1f}"
            yield _switched_off(subject, key, what, why)


def _switched_off(subject: Subject, key: str, what: str, why: str) -> Finding:
    return Finding(
        "latent-attention",
        "warning",
        subject.where("pytorch", key),
        f"{what} is switched off for this target's multi-head latent attention",
        why,
        f"write {key}: false",
        snippet=f"pytorch:\n  {key}: false",
        source=_SOURCE,
    )

"""Whether an engine can verify drafts that come from outside."""

from __future__ import annotations

from collections.abc import Sequence

from packaging.version import Version

from trtspec.errors import BackendUnavailableError, RunError
from trtspec.gpus import Gpu
from trtspec.trtllm import facts
from trtspec.trtllm.engine.engine_config import EngineConfig
from trtspec.trtllm.engine.run.gate import BUILD_AGAIN
from trtspec.trtllm.engine.run.settings import GATHER_LOGITS

_FP8_WEIGHTS = ("FP8", "W4A8_AWQ", "NVFP4")
"""Weights beside which an FP8 KV cache keeps paged context FMHA
(tensorrt_llm/builder.py)."""
_FP8_CAPABILITY = (8, 9)


def require_block_reuse(
    engine: EngineConfig, *, block_reuse: bool, gpus: Sequence[Gpu], where: str
) -> None:
    """Refuse what keeps the engine from reusing blocks of its KV cache.

    Each round is a request of its own, which finds the last one's cache by reuse; the
    runtime refuses drafts without it.

    :param block_reuse: the setting that the engine will be loaded with.
    """
    fault = _reuse_fault(engine, block_reuse, gpus)
    if fault:
        what, allowed, action = fault
        raise RunError(
            f"drafts from outside need reuse of KV cache blocks, and {what}",
            where=where,
            allowed=allowed,
            action=action,
        )


def _reuse_fault(
    engine: EngineConfig, block_reuse: bool, gpus: Sequence[Gpu]
) -> tuple[str, str, str] | None:
    if not block_reuse:
        return "block_reuse is False", "block_reuse True", "leave it on"
    if engine.kv_cache_quant == "INT8":
        return (
            "the engine's KV cache is INT8",
            "auto, or fp8 beside fp8 weights",
            "write engine.kv_cache: auto, and " + BUILD_AGAIN,
        )
    if engine.kv_cache_quant == "FP8" and engine.quant not in _FP8_WEIGHTS:
        return (
            f"the engine's KV cache is FP8 beside weights {engine.quant or 'not'} "
            "quantized",
            f"an FP8 KV cache beside weights {', '.join(_FP8_WEIGHTS)}",
            "write engine.kv_cache: auto, and " + BUILD_AGAIN,
        )
    if not engine.paged_context_fmha:
        return (
            "the engine was built with use_paged_context_fmha off",
            "use_paged_context_fmha enable",
            BUILD_AGAIN,
        )
    if engine.kv_cache_quant == "FP8" and (old := _below_fp8(gpus)):
        return (
            f"the KV cache is FP8 on {old}",
            "compute capability 8.9 or more",
            ("write engine.kv_cache: auto, and " + BUILD_AGAIN),
        )
    return None


def _below_fp8(gpus: Sequence[Gpu]) -> str:
    """Name a GPU that has no FP8 attention; empty if all have it or do not say."""
    for gpu in gpus:
        if gpu.compute_capability is not None:
            capability = tuple(map(int, gpu.compute_capability.split(".")))
            if capability < _FP8_CAPABILITY:
                return f"{gpu.name}, compute capability {gpu.compute_capability}"
    return ""


def vocabulary_rows(engine: EngineConfig) -> int:
    """Rows of an engine's logits: its vocabulary, padded to a multiple of its ranks."""
    return -(-engine.vocab_size // engine.tp_size) * engine.tp_size


def require_logits(target: EngineConfig, draft: EngineConfig, version: Version) -> None:
    """Refuse ``use_draft_logits`` where logits do not come, or do not fit.

    Late versions give generation logits by a setting at load; before, both engines
    must have been built for them.
    """
    rows = {"target": vocabulary_rows(target), "draft": vocabulary_rows(draft)}
    if rows["target"] != rows["draft"]:
        raise RunError(
            f"use_draft_logits needs equal rows of logits, and the target engine has "
            f"{rows['target']}, the draft engine {rows['draft']}",
            where="speculation",
            allowed="two models whose padded vocabularies are equally large",
            action="write use_draft_logits: false, or choose another draft model",
        )
    if GATHER_LOGITS in facts.fields("ExecutorConfig", version):
        return
    for role, engine in (("target", target), ("draft", draft)):
        if not engine.gather_generation_logits:
            raise RunError(
                f"use_draft_logits needs generation logits, and the {role} engine was "
                f"built with {GATHER_LOGITS} off",
                where="speculation",
                allowed=f"{GATHER_LOGITS} on, in both engines",
                action=BUILD_AGAIN,
            )


def require_worker(worker: object | None) -> None:
    """Refuse several engines or ranks without the program that runs them."""
    if worker is None:
        raise BackendUnavailableError(
            "bin/executorWorker of TensorRT-LLM was not found",
            where="installation",
            allowed="an installation that has it: two engines, or several GPUs, run in "
            "worker processes",
            action="run in NVIDIA's TensorRT-LLM image",
        )

"""Whether an engine fits the recipe's drafts: from outside, or of its own making."""

from __future__ import annotations

from collections.abc import Sequence

from packaging.version import Version

from trtspec.errors import RunError
from trtspec.gpus import Gpu
from trtspec.methods import Eagle, Medusa, Method, ReDrafter
from trtspec.trtllm import facts
from trtspec.trtllm.engine.engine_config import EngineConfig
from trtspec.trtllm.engine.run.gate_engine import BUILD_AGAIN
from trtspec.trtllm.engine.run.load import DRAFT, GATHER_LOGITS, TARGET

_FP8_WEIGHTS = ("FP8", "W4A8_AWQ", "NVFP4")
"""Weights beside which an FP8 KV cache keeps paged context FMHA
(tensorrt_llm/builder.py)."""
_FP8_CAPABILITY = (8, 9)


def require_block_reuse(engine: EngineConfig, gpus: Sequence[Gpu], where: str) -> None:
    """Refuse what keeps the engine from reusing blocks of its KV cache.

    Each round is a request of its own, which finds the last one's cache by reuse; the
    runtime refuses drafts without it.
    """
    fault = _reuse_fault(engine, gpus)
    if fault:
        what, allowed, action = fault
        raise RunError(
            f"drafts from outside need reuse of KV cache blocks, and {what}",
            where=where,
            allowed=allowed,
            action=action,
        )


def _reuse_fault(
    engine: EngineConfig, gpus: Sequence[Gpu]
) -> tuple[str, str, str] | None:
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

    A draft may not be cut where the target model does not know a token: what is drawn
    would decide how much is verified.

    Late versions give generation logits by a setting at load; before, both engines
    must have been built for them.
    """
    sizes = {
        "vocab_size": (target.vocab_size, draft.vocab_size),
        "rows of logits": (vocabulary_rows(target), vocabulary_rows(draft)),
    }
    for name, (ours, theirs) in sizes.items():
        if ours != theirs:
            raise RunError(
                f"use_draft_logits needs equal {name}, and the target engine has "
                f"{ours}, the draft engine {theirs}",
                where="speculation",
                allowed="two models with the same tokens, padded to the same size",
                action="write use_draft_logits: false, or choose another draft model",
            )
    if GATHER_LOGITS in facts.fields("ExecutorConfig", version):
        return
    for role, engine in ((TARGET, target), (DRAFT, draft)):
        if not engine.gather_generation_logits:
            raise RunError(
                f"use_draft_logits needs generation logits, and the {role} engine was "
                f"built with {GATHER_LOGITS} off",
                where="speculation",
                allowed=f"{GATHER_LOGITS} on, in both engines",
                action=BUILD_AGAIN,
            )


def require_shape(engine: EngineConfig, method: Method, where: str) -> None:
    """Refuse a tree, or beams, other than the engine was built for."""
    if isinstance(method, Medusa):
        heads = int(engine.extras.get("num_medusa_heads") or 0)
        _require_levels(method.shape.depth, heads, "num_medusa_heads", where)
    elif isinstance(method, Eagle):
        _require_eagle_tree(engine, method, where)
    elif isinstance(method, ReDrafter):
        _require_beams(engine, method, where)


def _require_beams(engine: EngineConfig, method: ReDrafter, where: str) -> None:
    """Refuse other beams; a sampling engine under a greedy recipe were lossy unsaid."""
    wanted = {
        "redrafter_num_beams": method.num_beams,
        "redrafter_draft_len_per_beam": method.draft_length_per_beam,
        "redrafter_greedy_search": method.greedy_search,
    }
    for key, value in wanted.items():
        built = engine.extras.get(key)
        if built != value:
            raise RunError(
                f"the recipe wants {key} {value}, and the engine was built with "
                f"{'none' if built is None else built}",
                where=where,
                allowed=str(built),
                action="change the speculation, or " + BUILD_AGAIN,
            )


def _require_eagle_tree(engine: EngineConfig, method: Eagle, where: str) -> None:
    layers = int(engine.extras.get("num_eagle_layers") or 0)
    if method.num_layers != layers:
        raise RunError(
            f"the recipe drafts {method.num_layers} levels, and the engine was built "
            f"with num_eagle_layers {layers}",
            where=where,
            allowed=str(layers),
            action="change num_layers and the tree, or " + BUILD_AGAIN,
        )
    if method.is_dynamic:
        return
    most = int(engine.extras.get("max_non_leaves_per_layer") or 0)
    if method.shape.most_inner_nodes > most:
        raise RunError(
            f"a level of the tree has {method.shape.most_inner_nodes} nodes with "
            f"children, and the engine was built with max_non_leaves_per_layer {most}",
            where=where,
            allowed=f"up to {most}",
            action="thin the tree, or " + BUILD_AGAIN,
        )


def _require_levels(depth: int, built: int, name: str, where: str) -> None:
    if depth > built:
        raise RunError(
            f"the tree is {depth} levels deep, and the engine was built with {name} "
            f"{built}",
            where=where,
            allowed=f"up to {built} levels",
            action="choose a flatter tree, or " + BUILD_AGAIN,
        )


def require_dynamic_tree(method: Method, version: Version) -> None:
    """Refuse EAGLE-2 where the version is not known to have it."""
    wants = isinstance(method, Eagle) and method.is_dynamic
    if wants and "use_dynamic_tree" not in facts.fields("EagleConfig", version):
        raise RunError(
            f"tree: dynamic is not known to exist in TensorRT-LLM {version}",
            where="speculation",
            allowed="a named tree, or paths",
            action="choose a fixed tree, or install a later version",
        )

"""A memory plan as a table to read, and as a document."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.memory.plan import MemoryPlan, Part

_GIB = 1 << 30
_WIDTH = 34


def gib(count: int) -> str:
    """Write bytes as GiB, with two digits."""
    return f"{count / _GIB:.2f} GiB"


def plan_lines(plan: MemoryPlan) -> Iterator[str]:
    """Write a plan as lines of two columns."""
    shared = f", {plan.gpus} share the target" if plan.gpus > 1 else ""
    yield _row(f"one {plan.gpu}{shared}", gib(plan.memory))
    for part in plan.parts:
        if part.weights:
            yield _row(f"- weights, {part.role} ({part.how})", gib(part.weights))
    yield _row("- reserve (assumed)", gib(plan.reserve))
    yield _row("= free", gib(plan.free) if plan.free >= 0 else f"-{gib(-plan.free)}")
    yield _row(f"KV cache, {plan.fraction:g} of it", gib(plan.pool))
    for part in plan.parts:
        if part.cache.per_token:
            label = f"per token, {part.role} ({part.cache_type})"
            yield _row(label, f"{part.cache.per_token:,} bytes")
    yield _row("tokens", f"{plan.tokens:,}")
    yield _row(f"requests of {plan.request_tokens:,} tokens", f"{plan.requests:.2f}")
    yield _row("max_batch_size", str(plan.max_batch_size))
    step = f" ({plan.step_tokens} tokens a step)" if plan.step_tokens > 1 else ""
    yield _row("batch at full length", f"{plan.effective_batch}{step}")


def plan_document(plan: MemoryPlan) -> dict[str, object]:
    """Give a plan as JSON has it: bytes, tokens, requests."""
    return {
        "gpu": plan.gpu,
        "gpus": plan.gpus,
        "memory_bytes": plan.memory,
        "parts": [_part(part) for part in plan.parts],
        "weight_bytes": plan.weights,
        "reserve_bytes": plan.reserve,
        "free_bytes": plan.free,
        "kv_cache_fraction": plan.fraction,
        "kv_cache_bytes": plan.pool,
        "bytes_per_token": plan.bytes_per_token,
        "tokens": plan.tokens,
        "request_tokens": plan.request_tokens,
        "requests": round(plan.requests, 4),
        "max_batch_size": plan.max_batch_size,
        "step_tokens": plan.step_tokens,
        "max_num_tokens": plan.token_budget,
        "effective_batch": plan.effective_batch,
        "assumptions": list(plan.assumptions),
    }


def _part(part: Part) -> dict[str, object]:
    return {
        "role": part.role,
        "weight_bytes": part.weights,
        "counted": part.how,
        "bytes_per_token": part.cache.per_token,
        "kv_cache": part.cache_type,
    }


def _row(label: str, value: str) -> str:
    return f"{label:<{_WIDTH}} {value:>16}"

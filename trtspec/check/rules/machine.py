"""Whether this machine has what the recipe needs: software and memory."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.memory.cache import Cache
from trtspec.check.memory.plan import MemoryPlan, Part
from trtspec.check.memory.table import gib
from trtspec.check.subject import Subject


def installation(subject: Subject) -> Iterator[Finding]:
    """Refuse to go on without the packages that the backend needs."""
    for problem in subject.missing:
        yield Finding(
            "installation",
            "blocking",
            subject.where("backend"),
            problem.what,
            f"backend {subject.recipe.backend} cannot build or run without it",
            problem.action,
        )


def memory(subject: Subject) -> Iterator[Finding]:
    """Hold weights and KV cache against the memory that is free now."""
    free = subject.free_memory
    if subject.recipe.backend != "reference":
        return  # what counts there is the GPU's memory
    if free is None or not any(True for _ in subject.models):
        return
    plan = _plan(subject, free)
    weights, cache = plan.weights, plan.max_batch_size * plan.bytes_per_request
    if not plan.weights_fit:
        yield Finding(
            "memory",
            "blocking",
            subject.where_model("target"),
            f"the weights take {gib(weights)} in {subject.recipe.target.dtype}, but "
            f"{gib(free)} of memory are free",
            "the model cannot be loaded",
            "choose a smaller model, target.dtype bfloat16, or a larger machine",
        )
        return
    if cache > plan.pool:
        yield Finding(
            "memory",
            "warning",
            subject.where("limits"),
            f"the KV cache takes up to {gib(cache)}, but kv_cache_fraction "
            f"{plan.fraction:g} of the memory that the weights leave free is "
            f"{gib(plan.pool)}",
            "the machine may run out of memory, or swap and become slow",
            "lower limits.max_batch_size or limits.max_total_tokens",
        )


def _plan(subject: Subject, free: int) -> MemoryPlan:
    """Plan the memory: models in the recipe's dtype, a drafter as it is stored.

    A slot of the KV cache holds a whole sequence and the draft that is being verified,
    in layers with a sliding window too (trtspec.reference.hf, ``SlotLayer``). Of latent
    attention it holds the latent, as transformers 5.24 caches it.
    """
    recipe = subject.recipe
    dtype, limits = recipe.target.dtype, recipe.limits
    parts = [
        Part(role, model.weight_bytes_in(dtype), Cache(model.kv_bytes_per_token(dtype)))
        for role, model in subject.models
    ]
    if subject.drafter:
        parts.append(Part("drafter", subject.drafter.weight_bytes))
    return MemoryPlan(
        gpu="this machine",
        gpus=1,
        memory=free,
        parts=tuple(parts),
        reserve=0,
        fraction=limits.kv_cache_fraction,
        request_tokens=limits.max_total_tokens + recipe.speculation.longest_draft + 1,
        max_batch_size=limits.max_batch_size,
    )

"""Whether this machine has what the recipe needs: software and memory."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject

_GIB = 1 << 30


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
    weights, cache = weight_bytes(subject), cache_bytes(subject)
    if weights > free:
        yield Finding(
            "memory",
            "blocking",
            subject.where_model("target"),
            f"the weights take {_gib(weights)} in {subject.recipe.target.dtype}, but "
            f"{_gib(free)} of memory are free",
            "the model cannot be loaded",
            "choose a smaller model, target.dtype bfloat16, or a larger machine",
        )
        return
    fraction = subject.recipe.limits.kv_cache_fraction
    room = int((free - weights) * fraction)
    if cache > room:
        yield Finding(
            "memory",
            "warning",
            subject.where("limits"),
            f"the KV cache takes up to {_gib(cache)}, but kv_cache_fraction "
            f"{fraction:g} of the memory that the weights leave free is {_gib(room)}",
            "the machine may run out of memory, or swap and become slow",
            "lower limits.max_batch_size or limits.max_total_tokens",
        )


def weight_bytes(subject: Subject) -> int:
    """Bytes of all weights: models in the recipe's dtype, a drafter as it is stored."""
    dtype = subject.recipe.target.dtype
    models = sum(model.weight_bytes_in(dtype) for _, model in subject.models)
    return models + (subject.drafter.weight_bytes if subject.drafter else 0)


def cache_bytes(subject: Subject) -> int:
    """Bytes of the known models' KV caches with all slots in use.

    A slot holds a whole sequence and the draft that is being verified.
    """
    recipe = subject.recipe
    tokens = recipe.limits.max_total_tokens + recipe.speculation.longest_draft + 1
    per_token = sum(
        model.kv_bytes_per_token(recipe.target.dtype) for _, model in subject.models
    )
    return recipe.limits.max_batch_size * tokens * per_token


def _gib(count: int) -> str:
    return f"{count / _GIB:.1f} GiB"

"""Which small changes to a recipe let more fit, and how much each brings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from trtspec.check.memory.cache_types import target_cache_type
from trtspec.check.memory.parallel import target_parallel
from trtspec.check.memory.plan import MemoryPlan
from trtspec.check.memory.planned import Models, plan_for, without_speculation
from trtspec.gpu_kinds import GpuKind
from trtspec.methods import Quantization
from trtspec.recipe.engine import EngineOptions
from trtspec.recipe.pytorch import PyTorchOptions
from trtspec.recipe.schema import Recipe

_FIRST_FP8, _FIRST_FP4 = 89, 100
_WIDE = ("float32", "bfloat16", "float16")
_LARGEST_GROUP = 64
"""GPUs beyond which no advice goes."""

Planner = Callable[[Recipe], MemoryPlan]


@dataclass(frozen=True, slots=True)
class Fix:
    """One change.

    :param what: the change in words.
    :param plan: what it would come to.
    :param snippet: the lines to write; empty if it is no line of a recipe.
    """

    what: str
    plan: MemoryPlan
    snippet: str = ""

    def __str__(self) -> str:
        return f"{self.what}: {brought(self.plan)}"


def brought(plan: MemoryPlan) -> str:
    """Say what fits."""
    if not plan.weights_fit:
        return "the weights do not fit yet"
    return f"{plan.tokens:,} tokens, {plan.requests:.2f} full requests"


def fixes(
    recipe: Recipe, models: Models, gpu: GpuKind, planner: Planner | None = None
) -> tuple[Fix, ...]:
    """List the changes that bring something, the smallest first.

    :param planner: in place of ``plan_for`` with these models on this GPU.
    """
    plan = planner or (lambda changed: plan_for(changed, models, gpu))
    now = plan(recipe)
    return tuple(
        fix
        for fix in _all(recipe, models, gpu, plan, now)
        if fix.plan.free > now.free or fix.plan.requests > now.requests
    )


def _all(
    recipe: Recipe, models: Models, gpu: GpuKind, plan: Planner, now: MemoryPlan
) -> Iterator[Fix]:
    yield from _fp8_cache(recipe, models, gpu, plan)
    yield from _no_drafter(recipe, models, plan)
    yield from _shorter(recipe, plan, now)
    yield from _more_gpus(recipe, models, plan)
    yield from _quantized(recipe, models, gpu, plan)


def _fp8_cache(
    recipe: Recipe, models: Models, gpu: GpuKind, plan: Planner
) -> Iterator[Fix]:
    has_fp8 = gpu.capability is not None and gpu.capability >= _FIRST_FP8
    if not has_fp8 or target_cache_type(recipe, models.target) not in _WIDE:
        return
    section = "engine" if recipe.backend == "tensorrt" else "pytorch"
    defaults = EngineOptions() if section == "engine" else PyTorchOptions()
    options = getattr(recipe, section) or defaults
    own = options.model_copy(update={"kv_cache": "fp8"})
    changed = recipe.model_copy(update={section: own})
    yield Fix("an FP8 KV cache", plan(changed), f"{section}:\n  kv_cache: fp8")


def _no_drafter(recipe: Recipe, models: Models, plan: Planner) -> Iterator[Fix]:
    """What drafts takes its part; n-gram takes none, a smaller model something."""
    if models.draft is None and models.drafter is None:
        return
    kind = "draft model, or a head" if models.draft is not None else "head"
    what = f"a smaller {kind} (at most; that is with none, as method ngram has it)"
    yield Fix(what, plan(without_speculation(recipe)))


def _shorter(recipe: Recipe, plan: Planner, now: MemoryPlan) -> Iterator[Fix]:
    limits = recipe.limits
    wanted = min(2, limits.max_batch_size)
    draft = recipe.speculation.longest_draft
    if not now.weights_fit or now.requests >= wanted:
        return
    total = now.tokens // wanted - draft
    if total > 1:
        entry = min(limits.max_input_tokens, total - 1)
        changed = _with(
            recipe, "limits", {"max_total_tokens": total, "max_input_tokens": entry}
        )
        yield Fix(
            f"limits.max_total_tokens {total} in place of {limits.max_total_tokens}",
            plan(changed),
            f"limits:\n  max_total_tokens: {total}\n  max_input_tokens: {entry}",
        )


def _more_gpus(recipe: Recipe, models: Models, plan: Planner) -> Iterator[Fix]:
    """The next number of GPUs that divides the heads and holds a request."""
    now, heads = target_parallel(recipe).tensor, models.target.heads
    larger = range(now + 1, _LARGEST_GROUP + 1)
    for size in (n for n in larger if heads and heads % n == 0):
        planned = plan(_with(recipe, "target", {"tensor_parallel": size}))
        if planned.requests >= 1:
            what = f"tensor_parallel {size} in place of {now}"
            yield Fix(what, planned, f"target:\n  tensor_parallel: {size}")
            return


def _quantized(
    recipe: Recipe, models: Models, gpu: GpuKind, plan: Planner
) -> Iterator[Fix]:
    target = models.target
    if recipe.target.quantization != "none" or target.quantization != "none":
        return
    for wanted in _kinds_for(gpu):
        changed = _with(recipe, "target", {"quantization": wanted})
        lines = f"target:\n  quantization: {wanted}"
        yield Fix(f"the target in {wanted}", plan(changed), lines)


def _kinds_for(gpu: GpuKind) -> tuple[Quantization, ...]:
    capability = gpu.capability
    if capability is None:
        return ()
    if capability < _FIRST_FP8:
        return ("int4_awq",)
    return ("fp8", "nvfp4") if capability >= _FIRST_FP4 else ("fp8",)


def _with(recipe: Recipe, section: str, update: dict[str, Any]) -> Recipe:
    changed = getattr(recipe, section).model_copy(update=update)
    return recipe.model_copy(update={section: changed})

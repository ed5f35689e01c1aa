"""Which small changes to a recipe let more fit, and how much each brings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from packaging.version import Version

from trtspec.check.memory.cache_types import target_cache_type
from trtspec.check.memory.for_recipe import Models, plan_for, without_speculation
from trtspec.check.memory.parallel import target_parallel
from trtspec.check.memory.plan import MemoryPlan
from trtspec.gpu_kinds import GpuKind
from trtspec.methods import Quantization
from trtspec.recipe.engine import EngineOptions
from trtspec.recipe.pytorch import PyTorchOptions
from trtspec.recipe.schema import Recipe
from trtspec.recipe.section import Section

_FIRST_FP8, _FIRST_FP4 = 89, 100
_WIDE = ("float32", "bfloat16", "float16")
_LARGEST_GROUP = 64
"""GPUs beyond which no advice goes."""

Allowed = Callable[[Recipe], bool]
"""Whether a recipe is one that can be built."""


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


def _any(_: Recipe) -> bool:
    return True


def brought(plan: MemoryPlan) -> str:
    """Say what fits."""
    if not plan.weights_fit:
        return "the weights do not fit yet"
    return f"{plan.tokens:,} tokens, {plan.requests:.2f} full requests"


def fixes(
    recipe: Recipe,
    models: Models,
    gpu: GpuKind,
    version: Version | None = None,
    allowed: Allowed = _any,
) -> tuple[Fix, ...]:
    """List the changes that bring something, the smallest first.

    :param version: of TensorRT-LLM; None if it is not known.
    :param allowed: whether a changed recipe is one that check does not refuse.
    """
    asked = _Asked(recipe, models, gpu, version, allowed)
    now = asked.plan(recipe)
    return tuple(
        fix
        for fix in _all(asked, now)
        if fix.plan.free > now.free or fix.plan.requests > now.requests
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be changed, and what a change is held against."""

    recipe: Recipe
    models: Models
    gpu: GpuKind
    version: Version | None
    allowed: Allowed

    def plan(self, changed: Recipe) -> MemoryPlan:
        return plan_for(changed, self.models, self.gpu, self.version)

    def fix(self, what: str, changed: Recipe, snippet: str) -> Iterator[Fix]:
        """Give a change of some lines, if it makes a recipe that can be built."""
        if self.allowed(changed):
            yield Fix(what, self.plan(changed), snippet)


def _all(asked: _Asked, now: MemoryPlan) -> Iterator[Fix]:
    yield from _fp8_cache(asked)
    yield from _no_drafter(asked)
    yield from _shorter(asked, now)
    yield from _more_gpus(asked)
    yield from _quantized(asked)


def _fp8_cache(asked: _Asked) -> Iterator[Fix]:
    recipe, capability = asked.recipe, asked.gpu.capability
    has_fp8 = capability is not None and capability >= _FIRST_FP8
    if not has_fp8 or target_cache_type(recipe, asked.models.target) not in _WIDE:
        return
    section = "engine" if recipe.backend == "tensorrt" else "pytorch"
    defaults = EngineOptions() if section == "engine" else PyTorchOptions()
    options = getattr(recipe, section) or defaults
    changed = _with_section(recipe, section, options, {"kv_cache": "fp8"})
    yield from asked.fix("an FP8 KV cache", changed, f"{section}:\n  kv_cache: fp8")


def _no_drafter(asked: _Asked) -> Iterator[Fix]:
    """What drafts takes its part; n-gram takes none, a smaller model something."""
    models = asked.models
    if models.draft is None and models.drafter is None:
        return
    kind = "draft model, or a head" if models.draft is not None else "head"
    what = f"a smaller {kind} (at most; that is with none, as method ngram has it)"
    yield Fix(what, asked.plan(without_speculation(asked.recipe)))


def _shorter(asked: _Asked, now: MemoryPlan) -> Iterator[Fix]:
    recipe, limits = asked.recipe, asked.recipe.limits
    wanted = min(2, limits.max_batch_size)
    if not now.weights_fit or now.requests >= wanted:
        return
    total = now.tokens // wanted - recipe.speculation.longest_draft
    if total > 1:
        entry = min(limits.max_input_tokens, total - 1)
        update = {"max_total_tokens": total, "max_input_tokens": entry}
        yield from asked.fix(
            f"limits.max_total_tokens {total} in place of {limits.max_total_tokens}",
            _with(recipe, "limits", update),
            f"limits:\n  max_total_tokens: {total}\n  max_input_tokens: {entry}",
        )


def _more_gpus(asked: _Asked) -> Iterator[Fix]:
    """The next number of GPUs that divides the heads and holds a request."""
    now, heads = target_parallel(asked.recipe).tensor, asked.models.target.heads
    larger = range(now + 1, _LARGEST_GROUP + 1)
    for size in (n for n in larger if heads and heads % n == 0):
        changed = _with(asked.recipe, "target", {"tensor_parallel": size})
        if asked.plan(changed).requests >= 1 and asked.allowed(changed):
            what = f"tensor_parallel {size} in place of {now}"
            yield from asked.fix(what, changed, f"target:\n  tensor_parallel: {size}")
            return


def _quantized(asked: _Asked) -> Iterator[Fix]:
    recipe, target = asked.recipe, asked.models.target
    if recipe.target.quantization != "none" or target.quantization != "none":
        return
    for wanted in _kinds_for(asked.gpu):
        changed = _with(recipe, "target", {"quantization": wanted})
        lines = f"target:\n  quantization: {wanted}"
        yield from asked.fix(f"the target in {wanted}", changed, lines)


def _kinds_for(gpu: GpuKind) -> tuple[Quantization, ...]:
    capability = gpu.capability
    if capability is None:
        return ()
    if capability < _FIRST_FP8:
        return ("int4_awq",)
    return ("fp8", "nvfp4") if capability >= _FIRST_FP4 else ("fp8",)


def _with(recipe: Recipe, section: str, update: dict[str, Any]) -> Recipe:
    return _with_section(recipe, section, getattr(recipe, section), update)


def _with_section(
    recipe: Recipe, section: str, options: Section, update: dict[str, Any]
) -> Recipe:
    return recipe.model_copy(update={section: options.model_copy(update=update)})

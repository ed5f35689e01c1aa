"""Whether weights and KV caches fit on the GPU, and for how many requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from trtspec.check.finding import Finding, Severity
from trtspec.check.memory.fixes import Fix, brought, fixes
from trtspec.check.memory.for_recipe import Models, plan_for, without_speculation
from trtspec.check.memory.plan import MemoryPlan
from trtspec.check.memory.table import gib, plan_document, plan_lines
from trtspec.check.rules.limits import draft_fits
from trtspec.check.subject import Subject
from trtspec.gpu_kinds import GpuKind
from trtspec.models.head_cache import head_cache
from trtspec.recipe.schema import Recipe

if TYPE_CHECKING:
    from trtspec.check.rules import Rule

PAGE = "docs/memory.md"
_SERVED = ("tensorrt", "pytorch")
_SHOWN_FIXES = 5


class Question(NamedTuple):
    """A recipe whose models and GPU are known.

    :ivar rules: the backend's own, which advice is held against.
    """

    subject: Subject
    models: Models
    gpu: GpuKind
    plan: MemoryPlan
    rules: Sequence[Rule] = ()


def question(subject: Subject, rules: Sequence[Rule] = ()) -> Question | None:
    """Plan the memory of a recipe for TensorRT-LLM; None if too little is known."""
    if subject.recipe.backend not in _SERVED or not subject.gpus:
        return None
    if subject.target is None:
        return None
    head = head_cache(subject.drafter) if subject.drafter else None
    models = Models(subject.target, subject.draft, subject.drafter, head)
    gpu = min(subject.gpus, key=lambda kind: kind.memory_bytes)
    plan = plan_for(subject.recipe, models, gpu, subject.version)
    return Question(subject, models, gpu, plan, rules)


def gpu_memory(subject: Subject, rules: Sequence[Rule] = ()) -> Iterator[Finding]:
    """Hold weights and KV cache against the memory of the GPU.

    :param rules: the backend's own: what they refuse is not advised.
    """
    asked = question(subject, rules)
    if asked is None:
        return
    yield from _verdict(asked)
    plan = asked.plan
    table = "".join(f"\n  {line}" for line in plan_lines(plan))
    yield Finding(
        "memory-plan",
        "note",
        subject.where("limits"),
        f"memory of the fullest GPU:{table}",
        "; ".join(plan.assumptions),
        source=PAGE,
        values=plan_document(plan),
    )


def host_cache(subject: Subject) -> Iterator[Finding]:
    """Tell that host memory for KV blocks is pinned once more for a draft cache."""
    options = subject.recipe.pytorch
    given = options.llm_args.get("kv_cache_config") if options else None
    size = given.get("host_cache_size") if isinstance(given, dict) else None
    if subject.recipe.backend != "pytorch" or not size or subject.draft is None:
        return
    yield Finding(
        "memory-host",
        "warning",
        subject.where("pytorch", "llm_args"),
        f"host_cache_size {size} may be pinned a second time for the draft model",
        "in releases without the change the draft cache takes over the target's size",
        "have twice as much host memory free, or delete host_cache_size",
        source="https://github.com/NVIDIA/TensorRT-LLM/pull/12756",
        values={"host_cache_size": size},
    )


def _verdict(asked: Question) -> Iterator[Finding]:
    plan = asked.plan
    if not plan.weights_fit:
        yield _does_not_fit(asked)
    elif not plan.bytes_per_token:
        return  # a model without attention has no such cache
    elif plan.requests < 1:
        yield _no_request(asked)
    elif not plan.is_useful:
        yield _no_useful_batch(asked)
    elif int(plan.requests) < plan.max_batch_size:
        yield _more_than_fits(asked)


def _does_not_fit(asked: Question) -> Finding:
    plan = asked.plan
    parts = " + ".join(
        f"{gib(part.weights)} of the {part.role}" for part in plan.parts if part.weights
    )
    alone = plan.weights > plan.memory
    beside = "" if alone else f" and a reserve of {gib(plan.reserve)}"
    return _blocking(
        asked,
        f"weights of {parts}{beside} do not fit: {gib(plan.memory)} on one {plan.gpu}",
        "the model cannot be loaded, or nothing is left for the KV cache",
    )


def _no_request(asked: Question) -> Finding:
    plan = asked.plan
    return _blocking(
        asked,
        f"not one request of {plan.request_tokens:,} tokens fits: the KV cache of "
        f"{gib(plan.pool)} holds {plan.tokens:,} at {plan.bytes_per_token:,} bytes "
        "each",
        "requests near limits.max_total_tokens can never be served",
    )


def _blocking(asked: Question, what: str, why: str) -> Finding:
    where = asked.subject.where_model("target")
    return _finding(asked, "blocking", "memory", where, what=what, why=why)


def _finding(
    asked: Question,
    severity: Severity,
    rule: Literal["memory", "memory-batch", "memory-limits"],
    where: str,
    *,
    what: str,
    why: str,
    fewer: int | None = None,
) -> Finding:
    """Give a finding with what would help.

    :param fewer: a max_batch_size that would fit.
    """
    action, snippet = _remedy(asked, fewer)
    values = plan_document(asked.plan)
    return Finding(
        rule, severity, where, what, why, action,
        snippet=snippet, source=PAGE, values=values,
    )  # fmt: skip


def _no_useful_batch(asked: Question) -> Finding:
    plan = asked.plan
    return _finding(
        asked,
        "warning",
        "memory-batch",
        asked.subject.where("limits", "max_total_tokens"),
        what=f"no useful batch: {plan.requests:.2f} requests of "
        f"{plan.request_tokens:,} tokens fit into a KV cache of {plan.tokens:,} tokens",
        why="requests run one after another, or are paused; " + _cost(asked),
    )


def _more_than_fits(asked: Question) -> Finding:
    plan, fit = asked.plan, int(asked.plan.requests)
    return _finding(
        asked,
        "warning",
        "memory-limits",
        asked.subject.where("limits", "max_batch_size"),
        what=f"max_batch_size {plan.max_batch_size} at {plan.request_tokens:,} tokens "
        f"each is more than fits: {fit} requests of that length, {plan.tokens:,} "
        "tokens",
        why="with long requests fewer run at once, and others are paused; "
        + _cost(asked),
        fewer=fit,
    )


def _cost(asked: Question) -> str:
    """Say what would fit without speculation, so that its price is seen."""
    recipe = asked.subject.recipe
    off = plan_for(
        without_speculation(recipe), asked.models, asked.gpu, asked.subject.version
    )
    return f"without speculation: {brought(off)}"


def _remedy(asked: Question, fewer: int | None = None) -> tuple[str, str]:
    """Give what to do, the smallest change first, and the lines for the first."""
    recipe, allowed = asked.subject.recipe, _allowed(asked)
    found = fixes(recipe, asked.models, asked.gpu, asked.subject.version, allowed)
    lines = [str(fix) for fix in found[:_SHOWN_FIXES]]
    snippet = next((fix.snippet for fix in found if _is_enough(fix)), "")
    if fewer is not None:
        batch = asked.plan.max_batch_size
        lines.insert(
            0, f"leave it where most requests are short; max_batch_size {fewer} if not"
        )
        # to cut a batch to a fraction is no small change
        enough = (fix.snippet for fix in found if fix.plan.requests >= batch)
        snippet = (
            f"limits:\n  max_batch_size: {fewer}"
            if 2 * fewer >= batch
            else next(filter(None, enough), "")
        )
    if not lines:
        return "use a larger GPU, more of them, or a smaller model", ""
    return "one of these, the smallest first:" + _listed(lines), snippet


def _allowed(asked: Question) -> Callable[[Recipe], bool]:
    """Give what says whether a changed recipe is refused for nothing new."""
    before = _refused(asked, asked.subject.recipe)
    return lambda changed: _refused(asked, changed) <= before


def _refused(asked: Question, recipe: Recipe) -> set[tuple[str, str]]:
    subject = replace(asked.subject, recipe=recipe)
    found = (f for rule in (draft_fits, *asked.rules) for f in rule(subject))
    return {(f.rule, f.where) for f in found if f.severity == "blocking"}


def _is_enough(fix: Fix) -> bool:
    return bool(fix.snippet) and fix.plan.weights_fit and fix.plan.is_useful


def _listed(lines: Iterable[str]) -> str:
    return "".join(f"\n  - {line}" for line in lines)

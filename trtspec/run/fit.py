"""Whether a request fits the artifact that it is sent to."""

from __future__ import annotations

from trtspec.errors import UsageError
from trtspec.methods import Lookahead, Method
from trtspec.recipe.schema import Limits, Recipe
from trtspec.run.types import Request


def require_fit(request: Request, recipe: Recipe, capacity: int) -> None:
    """Refuse what could only fail or be cut silently later.

    :param capacity: draft tokens per step that the artifact was built for.
    :raises UsageError: with the request's value and the largest that fits.
    """
    _require_lengths(request, recipe.limits)
    if request.speculation is not None:
        _require_own_speculation(request, request.speculation, recipe, capacity)


def _require_lengths(request: Request, limits: Limits) -> None:
    size, where = len(request.prompt), f"request {request.id}"
    if size == 0:
        raise UsageError("the prompt has no tokens", where=where)
    if size > limits.max_input_tokens:
        raise UsageError(
            f"the prompt has {size} tokens",
            where=where,
            allowed=f"up to limits.max_input_tokens = {limits.max_input_tokens}",
            action="shorten the prompt, or raise the limit in the recipe",
        )
    if request.max_new_tokens < 1 or size + request.max_new_tokens > (
        limits.max_total_tokens
    ):
        raise UsageError(
            f"{size} prompt tokens and {request.max_new_tokens} output tokens",
            where=where,
            allowed="at least 1 output token, and together up to "
            f"limits.max_total_tokens = {limits.max_total_tokens}",
            action="ask for fewer output tokens, or raise the limit in the recipe",
        )


def _require_own_speculation(
    request: Request, own: Method, recipe: Recipe, capacity: int
) -> None:
    method = recipe.speculation.method
    if own.method != method:
        raise UsageError(
            f"the request asks for method {own.method}",
            where=f"request {request.id}",
            allowed=f"the artifact's method, {method}",
            action="build a recipe with that method",
        )
    usual = recipe.speculation.model_dump()
    changed = {key for key, value in own.model_dump().items() if value != usual[key]}
    if fixed := sorted(changed - own.of_request):
        raise UsageError(
            f"the request changes {', '.join(fixed)} of method {method}",
            where=f"request {request.id}",
            allowed=", ".join(sorted(own.of_request)) or "nothing of its own",
            action="build a recipe with these parameters",
        )
    if own.longest_draft > capacity:
        raise UsageError(
            f"a draft of {own.longest_draft} tokens is longer than the artifact was "
            f"built for: {capacity}",
            where=f"request {request.id}",
            allowed=f"up to {capacity} draft tokens",
            action=f"ask for a shorter draft, or build with a larger {_room(recipe)}",
        )


def _room(recipe: Recipe) -> str:
    """Name what the recipe says to have room for a longer draft."""
    if isinstance(recipe.speculation, Lookahead):
        return "window_size, ngram_size or verification_set_size"
    if recipe.backend == "tensorrt":
        return "engine.max_draft_length"
    return "speculation.draft_length"


def refuse_controls(request: Request, backend: str) -> None:
    """Refuse sampling controls on a backend that has none but its own.

    :raises UsageError: naming them.
    """
    if request.controls:
        raise UsageError(
            f"backend {backend} has no {', '.join(sorted(request.controls))}",
            where=f"request {request.id}",
            allowed="temperature, top_k, top_p, seed, stop, ignore_eos",
            action="leave it out, or run a recipe with backend: pytorch",
        )


def refuse_logprobs(request: Request, backend: str) -> None:
    """Refuse to give log-probabilities where the engine does not give them.

    :raises UsageError: if the request asks for them.
    """
    if request.logprobs is not None:
        raise UsageError(
            f"backend {backend} gives no log-probabilities",
            where=f"request {request.id}",
            allowed="requests without logprobs",
            action="leave it out, or run a recipe with backend: reference",
        )

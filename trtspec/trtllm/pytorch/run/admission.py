"""Whether a request may run on an artifact, and whether its output is lossy."""

from __future__ import annotations

from packaging.version import Version

from trtspec.errors import UsageError
from trtspec.methods import Method, lossy_reason
from trtspec.recipe.schema import Recipe
from trtspec.run.fit import refuse_logprobs, require_fit
from trtspec.run.types import Request
from trtspec.trtllm.pytorch.run.controls import refusals
from trtspec.trtllm.pytorch.run.reach import Reach
from trtspec.trtllm.pytorch.run.sampling import is_greedy

BACKEND = "pytorch"


def admit(request: Request, recipe: Recipe, reach: Reach) -> str:
    """Say why a request's output is not the target's own; empty if it is.

    :raises UsageError: if the request does not fit, asks for what the release would not
        honour, or would be lossy although the recipe does not allow that.
    """
    method = recipe.speculation
    require_one_arm(request, method)
    require_fit(request, recipe, method.longest_draft)
    refuse_logprobs(request, BACKEND)
    if found := refusals(request.controls, reach, f"request {request.id}"):
        raise UsageError.from_problems(found)
    return lossy_or_refuse(request, method, reach.version)


def require_one_arm(request: Request, method: Method) -> None:
    """Refuse what the engine decides for all requests: whether and how it drafts.

    :raises UsageError: naming the recipe to build instead.
    """
    where = f"request {request.id}"
    if not request.speculate and method.method != "none":
        raise UsageError(
            "backend pytorch drafts for every request, and the request asks for no "
            "speculation",
            where=where,
            allowed="speculation on",
            action="build the same recipe with speculation: {method: none}, and run "
            "that",
        )
    if request.speculation not in (None, method):
        raise UsageError(
            f"the request has parameters of its own for {method.method}, and backend "
            "pytorch fixes them for the whole engine",
            where=where,
            allowed="the recipe's parameters",
            action="change the recipe, and build it",
        )


def lossy_or_refuse(request: Request, method: Method, version: Version) -> str:
    """Say why the output is not the target's own; empty if it is.

    :raises UsageError: if it is lossy and the recipe does not allow that.
    """
    sampled = not is_greedy(request.sampling)
    reason = lossy_reason(method, BACKEND, version, sampled=sampled)
    if reason and not method.lossy_allowed:
        how = f"temperature {request.sampling.temperature:g}" if sampled else "greedy"
        raise UsageError(
            f"{how} with {method.method} would be lossy: {reason}",
            where=f"request {request.id}",
            allowed=_lossless(method, version),
            action="take one of these, or write speculation.allow_lossy: true; every "
            "output then says that it is lossy",
        )
    return reason


def _lossless(method: Method, version: Version) -> str:
    greedy = lossy_reason(method, BACKEND, version, sampled=False)
    return "method: none" if greedy else "temperature 0, method: none"

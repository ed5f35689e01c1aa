"""Whether a request may run on an artifact, and whether its output is lossy."""

from __future__ import annotations

from packaging.version import Version

from trtspec.errors import UsageError
from trtspec.methods import DraftTarget, Lookahead, Method, NGram, lossy_reason
from trtspec.run.fit import refuse_controls, refuse_logprobs
from trtspec.run.types import Request, SamplingParams
from trtspec.trtllm import facts

BACKEND = "tensorrt"
_CHANGEABLE: dict[str, tuple[str, ...]] = {
    "ngram": ("draft_length", "max_matching_ngram"),
    "draft_target": ("draft_length",),
    "lookahead": ("window_size", "ngram_size", "verification_set_size"),
}
"""Parameters that a request may have of its own; the others are the server's."""


def drafts_from_outside(method: Method) -> bool:
    """Whether the engine gets its drafts with the request."""
    return isinstance(method, DraftTarget | NGram)


def require_off_arm(request: Request, method: Method) -> None:
    """Refuse plain decoding on an engine that cannot but draft.

    :raises UsageError: naming the recipe to build instead.
    """
    if request.speculate or not method.always_drafts:
        return
    raise UsageError(
        f"an engine built for {method.method} always drafts, and the request asks for "
        "no speculation",
        where=f"request {request.id}",
        allowed="speculation on",
        action="build the same recipe with speculation: {method: none}, and run that",
    )


def is_greedy(sampling: SamplingParams) -> bool:
    """Whether an engine decodes greedily, so that no distribution is at stake.

    Top-k 1 leaves one token, whatever the temperature. Not so on the reference engine,
    which keeps those that tie with it: ``SamplingParams.greedy`` is not for both.
    """
    return sampling.greedy or sampling.top_k == 1


def require_sampling(request: Request) -> None:
    """Refuse what is not had, and a top-k that is lowered, told in a log only.

    :raises UsageError: naming controls or log-probabilities, or the largest top-k.
    """
    refuse_controls(request, BACKEND)
    refuse_logprobs(request, BACKEND)
    most, sampling = facts.most_top_k(), request.sampling
    if not sampling.greedy and sampling.top_k > most:
        raise UsageError(
            f"top_k {sampling.top_k} would be lowered by TensorRT-LLM",
            where=f"request {request.id}",
            allowed=f"1 to {most}, or 0 for all tokens",
            action="lower top_k, or set it to 0",
        )


def require_own_parameters(request: Request, method: Method) -> None:
    """Refuse parameters of a request that are fixed for the whole server.

    :raises UsageError: naming what differs.
    """
    own = request.speculation
    if own is None or own == method:
        return
    changeable = _CHANGEABLE.get(method.method, ())
    theirs, ours = own.model_dump(), method.model_dump()
    fixed = [key for key in ours if theirs.get(key) != ours[key]]
    fixed = [key for key in fixed if key not in changeable]
    if fixed:
        values = ", ".join(
            f"{k} {theirs.get(k)!r} (recipe: {ours[k]!r})" for k in fixed
        )
        raise UsageError(
            f"the request asks for {values}",
            where=f"request {request.id}",
            allowed=f"its own {' and '.join(changeable) or 'nothing'}",
            action="change the recipe",
        )
    _require_smaller(request, own, method)


def _require_smaller(request: Request, own: Method, method: Method) -> None:
    """Refuse lookahead sizes above the server's, element by element."""
    if not isinstance(method, Lookahead):
        return
    for key in _CHANGEABLE["lookahead"]:
        asked, most = getattr(own, key), getattr(method, key)
        if asked > most:
            raise UsageError(
                f"the request asks for {key} {asked}",
                where=f"request {request.id}",
                allowed=f"up to the recipe's {most}",
                action=f"lower it, or build a recipe with a larger {key}",
            )


def lossy_or_refuse(request: Request, method: Method, version: Version) -> str:
    """Say why the output is not the target's own; empty if it is.

    A lookahead engine decodes greedily even where nothing is drafted.

    :raises UsageError: if it is lossy and the recipe does not allow that.
    """
    plain = not request.speculate and not isinstance(method, Lookahead)
    if plain:
        return ""
    sampled = not is_greedy(request.sampling)
    reason = lossy_reason(method, BACKEND, version, sampled=sampled)
    if reason and not method.lossy_allowed:
        raise UsageError(
            f"temperature {request.sampling.temperature:g} with {method.method} would "
            f"be lossy: {reason}",
            where=f"request {request.id}",
            allowed=_lossless(method, version),
            action="take one of these, or write speculation.allow_lossy: true; every "
            "output then says that it is lossy",
        )
    return reason


def _lossless(method: Method, version: Version) -> str:
    ways = []
    if not lossy_reason(method, BACKEND, version, sampled=False):
        ways.append("temperature 0")
    if isinstance(method, DraftTarget) and not method.use_draft_logits:
        ways.append("use_draft_logits: true")
    return ", ".join([*ways, "method: none"])

"""From a request's document to requests for the engine."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from trtspec.errors import UsageError
from trtspec.methods import Method
from trtspec.run import Request, SamplingParams, own_speculation
from trtspec.serve.openai.errors import BAD_REQUEST, NOT_FOUND, RefusalError
from trtspec.serve.openai.fields import MAX_SEED, Common
from trtspec.serve.service import Service

_CONTEXT = "context_length_exceeded"
TOGETHER = "unsupported_combination"
"""What is allowed by itself, but not beside something else of the request."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a request asks for beside what all requests have in common.

    :param tokens: most output tokens; None for as many as there is room for.
    :param logprobs: as in ``trtspec.run.Request``.
    """

    prompts: Sequence[tuple[int, ...]]
    tokens: int | None
    logprobs: int | None


def require_model(service: Service, name: str) -> None:
    """Refuse a model that is not served here.

    :raises RefusalError: 404.
    """
    if name != service.name:
        raise RefusalError(
            NOT_FOUND,
            f"there is no model {name[:80]!r} here; served is {service.name!r}",
            param="model",
            code="model_not_found",
        )


def most_choices(service: Service) -> int:
    """How many answers a request may have: more would not fit in at any time."""
    return min(service.limits.choices, service.admission.most)


def require_choices(service: Service, body: Common, prompts: int) -> int:
    """Give the answers per prompt, if all of them together are not too many.

    :raises RefusalError: 400.
    """
    each = body.n or 1
    most = most_choices(service)
    if each * prompts > most:
        raise RefusalError(
            BAD_REQUEST,
            f"{prompts} prompts with n = {each} are {each * prompts} answers; allowed "
            f"are {most}: send several requests",
            param="n" if each > 1 else "prompt",
            code=TOGETHER,
        )
    return each


def engine_requests(
    service: Service, body: Common, wanted: Wanted, request_id: str
) -> list[Request]:
    """Make the engine's requests: choice i of all has the i-th seed.

    :param request_id: theirs are made of it.
    :raises RefusalError: if one of them does not fit.
    """
    seed = secrets.randbelow(MAX_SEED) if body.seed is None else body.seed
    each = require_choices(service, body, len(wanted.prompts))
    speculate, own = _speculation(service, body)
    made: list[Request] = []
    for prompt in wanted.prompts:
        size = _output_tokens(service, prompt, wanted.tokens)
        for _ in range(each):
            index = len(made)
            made.append(
                Request(
                    f"{request_id}-{index}",
                    prompt,
                    size,
                    sampling(body, seed + index),
                    body.stops,
                    bool(body.ignore_eos),
                    speculate,
                    own,
                    logprobs=wanted.logprobs,
                )
            )
    return made


def sampling(body: Common, seed: int) -> SamplingParams:
    """Read how tokens are chosen, with OpenAI's usual values for what is not said."""
    return SamplingParams(
        temperature=1.0 if body.temperature is None else body.temperature,
        top_k=max(0, body.top_k or 0),
        top_p=1.0 if body.top_p is None else body.top_p,
        seed=seed,
    )


def _output_tokens(
    service: Service, prompt: tuple[int, ...], wanted: int | None
) -> int:
    limits = service.recipe.limits
    if not prompt:
        raise RefusalError(
            BAD_REQUEST, "the prompt has no tokens", param="prompt", code="empty_prompt"
        )
    if len(prompt) > limits.max_input_tokens:
        raise RefusalError(
            BAD_REQUEST,
            f"the prompt has {len(prompt)} tokens; allowed are up to "
            f"{limits.max_input_tokens}",
            code=_CONTEXT,
        )
    if (largest := max(prompt)) >= service.codec.vocabulary:
        raise RefusalError(
            BAD_REQUEST,
            f"there is no token {largest}; ids go up to {service.codec.vocabulary - 1}",
            param="prompt",
        )
    room = limits.max_total_tokens - len(prompt)
    if wanted is not None and wanted > room:
        raise RefusalError(
            BAD_REQUEST,
            f"{len(prompt)} prompt tokens and {wanted} output tokens are more than "
            f"the {limits.max_total_tokens} that one request may have; ask for up to "
            f"{room}",
            code=_CONTEXT,
        )
    return room if wanted is None else wanted


def _speculation(service: Service, body: Common) -> tuple[bool, Method | None]:
    """Read whether to draft, and with which parameters of the request's own."""
    asked = body.speculation
    if asked is None or not asked.enabled:
        return asked is None, None
    method = service.recipe.speculation
    try:
        own = own_speculation(method, asked.draft_length, None)
    except UsageError as error:
        what = error.problems[0].what
        raise RefusalError(
            BAD_REQUEST, what, param="speculation.draft_length"
        ) from None
    if own is not None and own.longest_draft > method.longest_draft:
        raise RefusalError(
            BAD_REQUEST,
            f"a draft of {own.longest_draft} tokens is longer than the artifact was "
            f"built for: {method.longest_draft}",
            param="speculation.draft_length",
        )
    return True, own

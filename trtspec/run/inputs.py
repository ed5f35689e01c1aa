"""From prompts in words to requests in tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pydantic import ValidationError

from trtspec.errors import Problem, UsageError
from trtspec.methods import ChainMethod, Lookahead, Method
from trtspec.recipe import Prompt, Sampling
from trtspec.run.runner import Runner
from trtspec.run.types import Request, SamplingParams

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

LOOKAHEAD_SIZES = ("window_size", "ngram_size", "verification_set_size")
_BOUNDS = (("ge", "or more"), ("le", "or less"))
"""What pydantic calls a bound, and how it is read after its value."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What all requests of one call have in common.

    :param max_new_tokens: tokens that every request must have room for; None for up
        to ``usual_tokens``, or as many as fit.
    :param speculation: the requests' own parameters of the recipe's method.
    :param raw: send the last message's text as it is, without the chat template.
    :param controls: further sampling controls; see ``Request``.
    """

    max_new_tokens: int | None
    sampling: SamplingParams
    usual_tokens: int = 128
    stop: tuple[str, ...] = ()
    ignore_eos: bool = False
    speculate: bool = True
    speculation: Method | None = None
    raw: bool = False
    controls: Mapping[str, object] = field(default_factory=dict, hash=False)


def sampling_params(sampling: Sampling, **changes: float | None) -> SamplingParams:
    """Take a recipe's sampling, with what the command line says instead.

    :param changes: fields of ``SamplingParams``; None leaves the recipe's value.
    """
    values = sampling.model_dump() | {k: v for k, v in changes.items() if v is not None}
    return SamplingParams(**values)


def own_speculation(
    method: Method, draft_length: int | None, lookahead: tuple[int, int, int] | None
) -> Method | None:
    """Take a recipe's method, with what the command line says instead.

    :param lookahead: window, n-gram and verification set size.
    :returns: None if the command line says nothing.
    :raises UsageError: if the method has no such parameters, they are not valid, or a
        size is above the recipe's.
    """
    changes: dict[str, int] = {}
    if draft_length is not None:
        what = "draft length of its own"
        _require_kind(method, ChainMethod, "--draft-length", what)
        changes["draft_length"] = draft_length
    if lookahead is not None:
        _require_kind(method, Lookahead, "--lookahead", "lookahead sizes")
        changes |= dict(zip(LOOKAHEAD_SIZES, lookahead, strict=True))
    if not changes:
        return None
    try:
        own = type(method).model_validate({**method.model_dump(), **changes})
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError.from_problems([_not_valid(first, changes)]) from None
    if isinstance(method, Lookahead):
        _require_no_larger(own, method)
    return own


def _not_valid(fault: ErrorDetails, changes: dict[str, int]) -> Problem:
    """Say which value is wrong, and what is allowed."""
    details = fault.get("ctx", {})
    place = (*fault["loc"], *details.get("place", ()))
    key = str(place[0]) if place else ""
    where = "--draft-length" if "draft_length" in changes else "--lookahead"
    said = details.get("what") or changes.get(key, fault["input"])
    what = f"{key} {said}"
    if bounds := [f"{details[k]} {words}" for k, words in _BOUNDS if k in details]:
        return Problem(what, where, bounds[0])
    return Problem(
        what, where, details.get("allowed", fault["msg"]), details.get("action", "")
    )


def _require_no_larger(own: Method, method: Lookahead) -> None:
    """Refuse lookahead sizes above those that the artifact was built for."""
    larger = [
        Problem(
            f"{key} {getattr(own, key)}",
            "--lookahead",
            f"up to the recipe's {getattr(method, key)}",
            f"lower it, or build a recipe with a larger {key}",
        )
        for key in LOOKAHEAD_SIZES
        if getattr(own, key) > getattr(method, key)
    ]
    if larger:
        raise UsageError.from_problems(larger)


def _require_kind(method: Method, kind: type[Method], where: str, what: str) -> None:
    if not isinstance(method, kind):
        raise UsageError(f"method {method.method} has no {what}", where=where)


def make_requests(
    runner: Runner, prompts: Sequence[Prompt], asked: Asked
) -> list[Request]:
    """Tokenize every prompt; request i gets the i-th seed after the given one.

    :raises UsageError: naming every prompt that is too long, before any runs.
    """
    requests, problems = [], []
    for index, prompt in enumerate(prompts):
        tokens = _encode(runner, prompt, asked.raw)
        room = runner.max_total_tokens - len(tokens)
        wanted = asked.max_new_tokens or max(1, min(asked.usual_tokens, room))
        if not 0 < len(tokens) <= runner.max_input_tokens or wanted > room:
            problems.append(_does_not_fit(runner, prompt, len(tokens), wanted))
            continue
        sampling = replace(asked.sampling, seed=asked.sampling.seed + index)
        requests.append(
            Request(
                prompt.id,
                tokens,
                wanted,
                sampling,
                asked.stop,
                asked.ignore_eos,
                asked.speculate,
                asked.speculation,
                asked.controls,
            )
        )
    if problems:
        raise UsageError.from_problems(problems)
    return requests


def _encode(runner: Runner, prompt: Prompt, raw: bool) -> tuple[int, ...]:
    if raw:
        return runner.encode(prompt.messages[-1]["content"])
    return runner.encode_chat(prompt.messages)


def _does_not_fit(runner: Runner, prompt: Prompt, size: int, wanted: int) -> Problem:
    return Problem(
        f"{size} prompt tokens and {wanted} output tokens",
        f"prompt {prompt.id}",
        f"1 to {runner.max_input_tokens} prompt tokens (limits.max_input_tokens), "
        f"with the output up to {runner.max_total_tokens} (limits.max_total_tokens)",
        "shorten the prompt, ask for fewer tokens, or raise the limit in the recipe"
        if size
        else "the tokenizer makes nothing of this prompt; send another",
    )

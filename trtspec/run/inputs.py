"""From prompts in words to requests in tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from trtspec.errors import Problem, UsageError
from trtspec.methods import ChainMethod, Lookahead, Method
from trtspec.recipe import Prompt, Sampling
from trtspec.run.runner import Runner
from trtspec.run.types import Request, SamplingParams


@dataclass(frozen=True, slots=True)
class Asked:
    """What all requests of one call have in common.

    :param max_new_tokens: tokens that every request must have room for; None for up
        to ``usual_tokens``, or as many as fit.
    :param speculation: the requests' own parameters of the recipe's method.
    :param raw: send the last message's text as it is, without the chat template.
    """

    max_new_tokens: int | None
    sampling: SamplingParams
    usual_tokens: int = 128
    stop: tuple[str, ...] = ()
    ignore_eos: bool = False
    speculate: bool = True
    speculation: Method | None = None
    raw: bool = False


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
    :raises UsageError: if the method has no such parameters, or they are not valid.
    """
    changes: dict[str, int] = {}
    if draft_length is not None:
        _require_kind(method, ChainMethod, "--draft-length", "a draft length")
        changes["draft_length"] = draft_length
    if lookahead is not None:
        _require_kind(method, Lookahead, "--lookahead", "lookahead sizes")
        names = ("window_size", "ngram_size", "verification_set_size")
        changes |= dict(zip(names, lookahead, strict=True))
    if not changes:
        return None
    try:
        return type(method).model_validate({**method.model_dump(), **changes})
    except ValidationError as error:
        first = error.errors()[0]
        where = "--draft-length" if draft_length is not None else "--lookahead"
        raise UsageError(first["msg"], where=where) from None


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

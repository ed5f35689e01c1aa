"""How many requests and tokens fit into the server, and into one forward."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.memory.forward import needed_tokens, server_tokens, step_tokens
from trtspec.trtllm.pytorch.compile import schedule
from trtspec.trtllm.pytorch.compile.speculation import class_for
from trtspec.trtllm.pytorch.compile.subject import Item, Subject, blocking
from trtspec.trtllm.pytorch.settings import Remark, Setting

_NUM_TOKENS = ("pytorch", "max_num_tokens")


def size_settings(subject: Subject) -> Iterator[Item]:
    """Give the sizes that the engine is made for."""
    longest = subject.recipe.limits.max_total_tokens
    yield Setting("max_batch_size", subject.batch, "requests that run at once")
    tokens = server_tokens(subject.recipe)
    yield Setting("max_num_tokens", tokens, _why_so_many(subject))
    yield Setting("max_seq_len", longest, "prompt and output together")
    yield from _too_few(subject, tokens)
    yield from _room_for_drafts(subject, longest)


def _why_so_many(subject: Subject) -> str:
    if subject.options.max_num_tokens is not None:
        return "tokens of one forward, as the recipe says"
    batch, verified = subject.batch, subject.method.verified_tokens
    limits = subject.recipe.limits
    parts = "a chunk" if subject.options.chunked_prefill else limits.max_input_tokens
    needed = needed_tokens(subject.recipe)
    if server_tokens(subject.recipe) == needed:
        return f"tokens of one forward: prompt {parts} + {batch - 1} x {verified}"
    return f"tokens of one forward; {needed} needed: {parts} + {batch - 1} x {verified}"


def _too_few(subject: Subject, tokens: int) -> Iterator[Remark]:
    longest = subject.recipe.limits.max_input_tokens
    if not subject.options.chunked_prefill and tokens < longest:
        yield blocking(
            "num-tokens",
            _NUM_TOKENS,
            f"max_num_tokens {tokens} is below limits.max_input_tokens {longest}",
            "a prompt goes through in one forward unless it is split",
            f"write max_num_tokens: {needed_tokens(subject.recipe)}, or "
            "chunked_prefill: true",
            snippet=_in_recipe(subject),
            values=_counted(subject, tokens),
        )
    elif tokens < step_tokens(subject.recipe):
        yield Remark(
            "num-tokens",
            "warning",
            _NUM_TOKENS,
            f"max_num_tokens {tokens} is less than a verification step of all "
            f"{subject.batch} requests takes, {step_tokens(subject.recipe)}",
            f"each request takes up to {subject.method.verified_tokens} tokens",
            f"write max_num_tokens: {needed_tokens(subject.recipe)}, or delete it",
            snippet=_in_recipe(subject),
            values=_counted(subject, tokens),
        )


def _in_recipe(subject: Subject) -> str:
    return f"pytorch:\n  max_num_tokens: {needed_tokens(subject.recipe)}"


def _counted(subject: Subject, tokens: int) -> dict[str, object]:
    return {
        "max_num_tokens": tokens,
        "max_input_tokens": subject.recipe.limits.max_input_tokens,
        "step_tokens": step_tokens(subject.recipe),
        "needed_tokens": needed_tokens(subject.recipe),
    }


def _room_for_drafts(subject: Subject, longest: int) -> Iterator[Remark]:
    """1.2 counts the draft tokens on top of ``max_seq_len``, twice with overlap."""
    context = subject.target.context_length if subject.target else None
    if subject.family != "1.2" or context is None or class_for(subject) is None:
        return
    room = draft_room(subject)
    if longest <= context < longest + room:
        fits = context - room > subject.recipe.limits.max_input_tokens
        yield Remark(
            "context",
            "warning",
            ("limits", "max_total_tokens"),
            f"max_total_tokens {longest} leaves no room for {room} draft tokens below "
            f"the target's context of {context}",
            f"TensorRT-LLM {subject.version} counts them on top",
            f"write max_total_tokens: {context - room}"
            if fits
            else "draft fewer tokens, or lower limits.max_input_tokens",
            snippet=f"limits:\n  max_total_tokens: {context - room}" if fits else "",
            source="tensorrt_llm/_torch/pyexecutor/py_executor_creator.py",
            values={
                "max_total_tokens": longest,
                "draft_room": room,
                "context_length": context,
            },
        )


def draft_room(subject: Subject) -> int:
    """Tokens that 1.2 adds to the longest sequence (py_executor_creator.py).

    The draft, with the overlap scheduler once more with a token on top, and in a
    one-model engine the draft but one.
    """
    drafted = schedule.longest(subject.length) or subject.method.longest_draft
    room = drafted
    if not overlap_is_off(subject):
        room += drafted + 1
    return room + (drafted - 1 if subject.shape == "one model" else 0)


def overlap_is_off(subject: Subject) -> bool:
    """Whether the overlap scheduler is switched off, asked for or not."""
    return bool(why_no_overlap(subject))


def why_no_overlap(subject: Subject) -> str:
    """Say why the next step is not prepared while one runs; empty if it is."""
    if subject.shape == "outside":
        return f"{subject.method.method} drafts between two steps"
    if subject.shape == "two models":
        if subject.family == "1.0":
            return "1.0 has none for two-model engines"
        if subject.family == "1.2" and (why := _no_chain_drafter(subject)):
            return f"1.2 has none for two models with {why}"
    return "" if subject.options.overlap_scheduler else "the recipe says so"


def _no_chain_drafter(subject: Subject) -> str:
    if subject.has_schedule:
        return "draft_len_schedule"
    if subject.options.guided_decoding != "none":
        return "guided decoding"
    backend = subject.options.attention_backend
    return "" if backend == "TRTLLM" else f"attention backend {backend}"

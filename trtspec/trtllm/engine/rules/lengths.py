"""Whether limits and capacities are such that trtllm-build takes them as they are."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.methods import Eagle
from trtspec.trtllm import facts
from trtspec.trtllm.engine.sizes import (
    draft_capacity,
    drafts_come_from_outside,
    longest_input,
    options,
    target_sizes,
)
from trtspec.trtllm.installation import Installation


def batch_of_eagle(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse EAGLE for more requests than its builder takes."""
    batch, most = subject.recipe.limits.max_batch_size, facts.number_of("eagle_batch")
    if isinstance(subject.recipe.speculation, Eagle) and batch > most:
        yield Finding(
            "batch-size",
            "blocking",
            subject.where("limits", "max_batch_size"),
            f"max_batch_size {batch} with method eagle",
            f"the builder takes up to {most} (tensorrt_llm/builder.py)",
            f"set limits.max_batch_size to {most} or less",
        )


def draft_capacity_holds(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse drafts that are longer than what the engine is built for."""
    recipe = subject.recipe
    capacity = options(recipe).max_draft_length
    longest = recipe.speculation.longest_draft
    if not drafts_come_from_outside(recipe):  # it has no effect there
        return
    if capacity is not None and longest > capacity:
        yield Finding(
            "draft-length",
            "blocking",
            subject.where("speculation", "draft_length"),
            f"a draft of {longest} tokens does not fit into an engine built for "
            f"{capacity} (engine.max_draft_length)",
            "the runtime refuses drafts that are longer than built for",
            "lower draft_length, or raise engine.max_draft_length",
        )


def draft_has_room(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Tell of drafts that are verified behind the last position of the target.

    What the engine computes there is not established; memory is planned for it.
    """
    target, recipe = subject.target, subject.recipe
    context = target.context_length if target is not None else None
    longest, room = recipe.limits.max_total_tokens, draft_capacity(recipe)
    if context is None or not longest <= context < longest + room:
        return
    fits = context - room > recipe.limits.max_input_tokens
    yield Finding(
        "context",
        "note",
        subject.where("limits", "max_total_tokens"),
        f"max_total_tokens {longest} leaves no room for {room} draft tokens below the "
        f"target's context of {context}",
        f"the engine is made for {longest + room} tokens, and memory is planned for "
        "them; drafts behind the context have positions that the model was not made "
        "for",
        f"write max_total_tokens: {context - room}" if fits else "draft fewer tokens",
        snippet=f"limits:\n  max_total_tokens: {context - room}" if fits else "",
        values={
            "max_total_tokens": longest,
            "draft_room": room,
            "context_length": context,
        },
    )


def capacity_is_settable(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Point at a capacity that has no effect."""
    recipe, chosen = subject.recipe, options(subject.recipe)
    if chosen.max_draft_length is not None and not drafts_come_from_outside(recipe):
        yield Finding(
            "draft-length",
            "blocking",
            subject.where("engine", "max_draft_length"),
            f"max_draft_length {chosen.max_draft_length} with method "
            f"{recipe.speculation.method}",
            "only drafts from outside (draft_target, ngram) have such a capacity; here "
            "it follows from the method's own parameters",
            "delete engine.max_draft_length",
        )


def tokens_take_the_longest_input(
    installation: Installation, subject: Subject
) -> Iterator[Finding]:
    """Refuse fewer tokens at once than a prompt can have; tell of those raised."""
    recipe = subject.recipe
    chosen, longest = options(recipe).max_num_tokens, longest_input(subject.recipe)
    used = target_sizes(recipe, installation.version).max_num_tokens
    if chosen is None:
        return
    where = subject.where("engine", "max_num_tokens")
    if used < longest:
        key = "total" if drafts_come_from_outside(recipe) else "input"
        yield Finding(
            "num-tokens",
            "blocking",
            where,
            f"max_num_tokens {chosen} is below {longest}, the longest input "
            f"(limits.max_{key}_tokens)",
            "a prompt goes through in one forward: the runtime refuses one that is "
            "longer (cpp/tensorrt_llm/batch_manager/trtGptModel.h)",
            f"write {longest} or more, or lower limits.max_{key}_tokens",
        )
    elif chosen < used:
        yield Finding(
            "num-tokens",
            "warning",
            where,
            f"max_num_tokens {chosen} is below {used}, a step of the whole batch",
            "the builder raises it to max_batch_size x (draft tokens + 1), or to a "
            "block of the KV cache",
            f"write {used}, or lower limits.max_batch_size",
        )


def tokens_are_few_enough(
    installation: Installation, subject: Subject
) -> Iterator[Finding]:
    """Warn of more tokens at once than the builder advises."""
    recipe, most = subject.recipe, facts.number_of("many_num_tokens")
    used = target_sizes(recipe, installation.version).max_num_tokens
    if used <= most:
        return
    chosen = options(recipe).max_num_tokens
    derived = "" if chosen is not None else ", which follows from the limits,"
    needed = longest_input(recipe)
    action = f"set engine.max_num_tokens to {max(needed, most)}"
    if needed > most:
        action = f"lower the limits if you can: an input can have {needed} tokens"
    yield Finding(
        "num-tokens",
        "warning",
        subject.where("engine", "max_num_tokens"),
        f"max_num_tokens {used}{derived} is above {most}",
        "the builder advises against it: a tensor could exceed TensorRT's volume, a "
        "runtime error (tensorrt_llm/_common.py)",
        action,
    )

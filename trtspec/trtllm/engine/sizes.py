"""How large an engine is built, from what the recipe asks for."""

from __future__ import annotations

from dataclasses import dataclass

from trtspec.methods import DraftTarget, Eagle, Lookahead, Medusa, NGram, ReDrafter
from trtspec.recipe import EngineOptions, Recipe

DEFAULT_NUM_TOKENS = 8192
"""trtllm-build's own default of ``--max_num_tokens``; less is seldom meant."""


@dataclass(frozen=True, slots=True)
class EngineSizes:
    """Lengths that an engine is built for, in tokens.

    :param max_seq_len: as given to trtllm-build, which adds the draft to it.
    :param max_draft_len: draft tokens per request that are verified at once.
    """

    max_batch_size: int
    max_input_len: int
    max_seq_len: int
    max_num_tokens: int
    max_draft_len: int = 0


def drafts_come_from_outside(recipe: Recipe) -> bool:
    """Whether the draft tokens are sent along with the request (``draft_target``)."""
    return isinstance(recipe.speculation, DraftTarget | NGram)


def options(recipe: Recipe) -> EngineOptions:
    """Give the recipe's engine section, or one of defaults."""
    return recipe.engine or EngineOptions()


def draft_capacity(recipe: Recipe) -> int:
    """Draft tokens that the target engine has room for.

    From outside: what the recipe asks for, or its longest draft. Medusa and EAGLE:
    what the checkpoint is converted with. ReDrafter and lookahead: by their formulas.
    """
    method = recipe.speculation
    if isinstance(method, Medusa | Eagle):
        return method.max_draft_tokens
    if isinstance(method, ReDrafter | Lookahead):
        return method.longest_draft
    if drafts_come_from_outside(recipe):
        return options(recipe).max_draft_length or method.longest_draft
    return 0


def target_sizes(recipe: Recipe) -> EngineSizes:
    """Size the target engine.

    Drafts from outside are verified by a request of their own, whose prompt is all
    that was emitted so far: there the longest input is the longest sequence.
    """
    limits, capacity = recipe.limits, draft_capacity(recipe)
    longest_input = (
        limits.max_total_tokens
        if drafts_come_from_outside(recipe)
        else limits.max_input_tokens
    )
    return EngineSizes(
        max_batch_size=limits.max_batch_size,
        max_input_len=longest_input,
        max_seq_len=limits.max_total_tokens,
        max_num_tokens=_num_tokens(recipe, longest_input, capacity),
        max_draft_len=capacity,
    )


def draft_sizes(recipe: Recipe) -> EngineSizes:
    """Size the draft model's engine, which goes on from every emitted token."""
    limits = recipe.limits
    longest = limits.max_total_tokens
    return EngineSizes(
        max_batch_size=limits.max_batch_size,
        max_input_len=longest,
        max_seq_len=longest + draft_capacity(recipe),
        max_num_tokens=_num_tokens(recipe, longest, 0),
    )


def _num_tokens(recipe: Recipe, longest_input: int, capacity: int) -> int:
    """Most tokens in one forward: a whole prompt, and a step of the whole batch.

    The builder raises less than batch x (draft + 1) by itself
    (tensorrt_llm/builder.py).
    """
    step = recipe.limits.max_batch_size * (capacity + 1)
    given = options(recipe).max_num_tokens
    return max(given or max(DEFAULT_NUM_TOKENS, longest_input + capacity), step)

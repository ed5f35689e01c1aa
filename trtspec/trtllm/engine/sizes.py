"""How large an engine is built, from what the recipe asks for."""

from __future__ import annotations

from dataclasses import dataclass

from packaging.version import Version

from trtspec.methods import DraftTarget, Eagle, Lookahead, Medusa, NGram, ReDrafter
from trtspec.recipe import EngineOptions, Recipe
from trtspec.trtllm import facts

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


def target_sizes(recipe: Recipe, version: Version | None = None) -> EngineSizes:
    """Size the target engine.

    Drafts from outside are verified by a request of their own, whose prompt is all
    that was emitted so far: there the longest input is the longest sequence. The
    runtime counts such a draft twice, as input and, with one token more, as output
    (cpp/include/tensorrt_llm/batch_manager/llmRequest.h, validate); the builder makes
    room for it once.

    :param version: of TensorRT-LLM; None if it is not known.
    """
    limits, capacity = recipe.limits, draft_capacity(recipe)
    outside = drafts_come_from_outside(recipe)
    longest = limits.max_total_tokens
    return _sizes(
        recipe,
        version,
        max_input_len=longest if outside else limits.max_input_tokens,
        max_seq_len=longest + (capacity + 1 if outside else 0),
        max_draft_len=capacity,
    )


def draft_sizes(recipe: Recipe, version: Version | None = None) -> EngineSizes:
    """Size the draft model's engine, which goes on from every emitted token.

    :param version: of TensorRT-LLM; None if it is not known.
    """
    longest = recipe.limits.max_total_tokens
    return _sizes(
        recipe,
        version,
        max_input_len=longest,
        max_seq_len=longest + draft_capacity(recipe),
        max_draft_len=0,
    )


def longest_input(recipe: Recipe) -> int:
    """Tokens of the longest prompt that one request to an engine has."""
    return target_sizes(recipe).max_input_len


def _sizes(
    recipe: Recipe,
    version: Version | None,
    *,
    max_input_len: int,
    max_seq_len: int,
    max_draft_len: int,
) -> EngineSizes:
    """Size an engine as the builder will: it lowers and raises ``max_num_tokens``.

    It takes no more than the whole batch can have, no less than a block of the KV
    cache (tensorrt_llm/_common.py, check_max_num_tokens), and with a speculative
    decoding mode no less than a step of the whole batch (tensorrt_llm/builder.py).
    """
    batch = recipe.limits.max_batch_size
    block = _tokens_per_block(recipe, version)
    wanted = options(recipe).max_num_tokens or max(
        DEFAULT_NUM_TOKENS,
        max_input_len + max_draft_len,
        _verified_at_once(recipe, block),
    )
    step = batch * (max_draft_len + 1) if max_draft_len else 0
    return EngineSizes(
        max_batch_size=batch,
        max_input_len=max_input_len,
        max_seq_len=max_seq_len,
        max_num_tokens=max(min(wanted, batch * max_seq_len), block, step),
        max_draft_len=max_draft_len,
    )


def _verified_at_once(recipe: Recipe, block: int) -> int:
    """Tokens of a round in which every request of the batch verifies a draft.

    Only whole blocks of the KV cache are reused: the tokens since the last one are
    computed again, together with the draft. What would be more than the builder
    advises goes through in several forwards.
    """
    if not drafts_come_from_outside(recipe):
        return 0
    tokens = recipe.limits.max_batch_size * (draft_capacity(recipe) + block)
    return min(tokens, facts.number_of("many_num_tokens"))


def _tokens_per_block(recipe: Recipe, version: Version | None) -> int:
    chosen = options(recipe).build_flags.get("tokens_per_block")
    is_number = isinstance(chosen, int) and not isinstance(chosen, bool)
    return int(chosen) if chosen and is_number else facts.tokens_per_block(version)

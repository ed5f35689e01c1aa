"""How many tokens the largest forward takes, and so what ``max_num_tokens`` is."""

from __future__ import annotations

from typing import NamedTuple

from packaging.version import Version

from trtspec.methods import DraftTarget, Eagle, Lookahead, Medusa, NGram, ReDrafter
from trtspec.recipe.engine import EngineOptions
from trtspec.recipe.pytorch import PyTorchOptions
from trtspec.recipe.schema import Recipe

DEFAULT_NUM_TOKENS = 8192
"""TensorRT-LLM's own default of ``max_num_tokens``, on both backends; less is seldom
meant."""

ADVISED_NUM_TOKENS = 16384
"""Above it the builder advises against more (tensorrt_llm/_common.py,
``check_max_num_tokens``)."""

_CHUNK = 32
"""Tokens of a block of the KV cache, the least that a chunk of a prompt has."""

_BLOCK, _OLDER_BLOCK = 32, 64
_SMALLER_BLOCK_SINCE = Version("0.19")
"""By then an engine's blocks had fewer tokens (command page of trtllm-build)."""


class EngineLengths(NamedTuple):
    """Lengths of one request that an engine is built for, in tokens.

    :ivar max_seq_len: as given to trtllm-build, which adds the draft to it.
    :ivar max_draft_len: draft tokens that are verified at once.
    """

    max_input_len: int
    max_seq_len: int
    max_draft_len: int = 0


def forward_tokens(recipe: Recipe, version: Version | None = None) -> int:
    """Tokens of the target's largest forward, as a build for TensorRT-LLM sets them.

    :param version: of TensorRT-LLM; None if it is not known.
    """
    if recipe.backend != "tensorrt":
        return server_tokens(recipe)
    small = version is not None and version >= _SMALLER_BLOCK_SINCE
    block = _BLOCK if small else _OLDER_BLOCK
    return engine_tokens(recipe, target_lengths(recipe), block=block)


def step_tokens(recipe: Recipe) -> int:
    """Tokens of a verification step of the whole batch."""
    return recipe.limits.max_batch_size * recipe.speculation.verified_tokens


def needed_tokens(recipe: Recipe) -> int:
    """Tokens of a server's forward in which a prompt begins while all others decode.

    (max_batch_size - 1) * verified tokens + the longest prompt; a chunk of it, where
    prompts are split. At least the whole batch decoding: above
    max_num_tokens // (draft length + 1) requests TensorRT-LLM would count a smaller
    batch (tensorrt_llm/_torch/speculative/drafter.py, should_use_spec_decode).
    """
    limits, options = recipe.limits, recipe.pytorch or PyTorchOptions()
    prompt = _CHUNK if options.chunked_prefill else limits.max_input_tokens
    others = (limits.max_batch_size - 1) * recipe.speculation.verified_tokens
    return max(others + prompt, step_tokens(recipe))


def server_tokens(recipe: Recipe) -> int:
    """Tokens of backend pytorch's largest forward: the recipe's, or those needed.

    No fewer than TensorRT-LLM's default, unless that is more than all requests
    together can have.
    """
    given = recipe.pytorch.max_num_tokens if recipe.pytorch else None
    if given is not None:
        return given
    limits = recipe.limits
    everything = limits.max_batch_size * limits.max_total_tokens
    return max(needed_tokens(recipe), min(DEFAULT_NUM_TOKENS, everything))


def drafts_come_from_outside(recipe: Recipe) -> bool:
    """Whether an engine is sent the draft tokens along with the request."""
    return isinstance(recipe.speculation, DraftTarget | NGram)


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
        return _options(recipe).max_draft_length or method.longest_draft
    return 0


def target_lengths(recipe: Recipe) -> EngineLengths:
    """Give the lengths of the target engine.

    Drafts from outside are verified by a request of their own, whose prompt is all
    that was emitted so far: there the longest input is the longest sequence. The
    runtime counts such a draft twice, as input and, with one token more, as output
    (cpp/include/tensorrt_llm/batch_manager/llmRequest.h, validate); the builder makes
    room for it once.
    """
    limits, capacity = recipe.limits, draft_capacity(recipe)
    longest = limits.max_total_tokens
    if drafts_come_from_outside(recipe):
        return EngineLengths(longest, longest + capacity + 1, capacity)
    return EngineLengths(limits.max_input_tokens, longest, capacity)


def draft_lengths(recipe: Recipe) -> EngineLengths:
    """Give the lengths of a draft model's engine: it goes on from every token."""
    longest = recipe.limits.max_total_tokens
    return EngineLengths(longest, longest + draft_capacity(recipe))


def engine_tokens(
    recipe: Recipe,
    lengths: EngineLengths,
    *,
    block: int,
    advised: int = ADVISED_NUM_TOKENS,
) -> int:
    """Tokens of an engine's largest forward, as the builder lowers and raises them.

    It takes no more than the whole batch can have, no less than a block of the KV
    cache (tensorrt_llm/_common.py, check_max_num_tokens), and with a speculative
    decoding mode no less than a step of the whole batch (tensorrt_llm/builder.py).

    :param block: tokens of a block of the KV cache, unless a flag of the recipe says.
    :param advised: above it the builder advises against more.
    """
    options, batch = _options(recipe), recipe.limits.max_batch_size
    block, drafts = _block(options, block), lengths.max_draft_len
    wanted = options.max_num_tokens or max(
        DEFAULT_NUM_TOKENS,
        lengths.max_input_len + drafts,
        _verified_at_once(recipe, block, advised),
    )
    step = batch * (drafts + 1) if drafts else 0
    return max(min(wanted, batch * lengths.max_seq_len), block, step)


def _verified_at_once(recipe: Recipe, block: int, advised: int) -> int:
    """Tokens of a round in which every request of the batch verifies a draft.

    Only whole blocks of the KV cache are reused: the tokens since the last one are
    computed again, together with the draft. What would be more than the builder
    advises goes through in several forwards.
    """
    if not drafts_come_from_outside(recipe):
        return 0
    tokens = recipe.limits.max_batch_size * (draft_capacity(recipe) + block)
    return min(tokens, advised)


def _options(recipe: Recipe) -> EngineOptions:
    return recipe.engine or EngineOptions()


def _block(options: EngineOptions, default: int) -> int:
    chosen = options.build_flags.get("tokens_per_block")
    is_number = isinstance(chosen, int) and not isinstance(chosen, bool)
    return int(chosen) if chosen and is_number else default

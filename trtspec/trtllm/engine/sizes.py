"""How large an engine is built, from what the recipe asks for."""

from __future__ import annotations

from dataclasses import dataclass

from packaging.version import Version

from trtspec.check.memory.forward import (
    EngineLengths,
    draft_capacity,
    draft_lengths,
    drafts_come_from_outside,
    engine_tokens,
    target_lengths,
)
from trtspec.recipe import EngineOptions, Recipe
from trtspec.trtllm import facts

__all__ = [
    "EngineSizes",
    "draft_capacity",
    "draft_sizes",
    "drafts_come_from_outside",
    "longest_input",
    "options",
    "target_sizes",
]


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


def options(recipe: Recipe) -> EngineOptions:
    """Give the recipe's engine section, or one of defaults."""
    return recipe.engine or EngineOptions()


def target_sizes(recipe: Recipe, version: Version | None = None) -> EngineSizes:
    """Size the target engine.

    :param version: of TensorRT-LLM; None if it is not known.
    """
    return _sizes(recipe, target_lengths(recipe), version)


def draft_sizes(recipe: Recipe, version: Version | None = None) -> EngineSizes:
    """Size the draft model's engine, which goes on from every emitted token.

    :param version: of TensorRT-LLM; None if it is not known.
    """
    return _sizes(recipe, draft_lengths(recipe), version)


def longest_input(recipe: Recipe) -> int:
    """Tokens of the longest prompt that one request to an engine has."""
    return target_lengths(recipe).max_input_len


def _sizes(
    recipe: Recipe, lengths: EngineLengths, version: Version | None
) -> EngineSizes:
    return EngineSizes(
        max_batch_size=recipe.limits.max_batch_size,
        max_input_len=lengths.max_input_len,
        max_seq_len=lengths.max_seq_len,
        max_num_tokens=engine_tokens(
            recipe,
            lengths,
            block=facts.tokens_per_block(version),
            advised=facts.number_of("many_num_tokens"),
        ),
        max_draft_len=lengths.max_draft_len,
    )

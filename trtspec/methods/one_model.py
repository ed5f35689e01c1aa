"""Settings that several methods of TensorRT-LLM's backend pytorch share."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from trtspec.methods.base import ChainMethod
from trtspec.methods.draft_length import MAX_DRAFT_LENGTH

LayerIds = Annotated[
    tuple[Annotated[int, Field(ge=-1, le=4096)], ...],
    # not strict: YAML and JSON have lists, no tuples
    Field(min_length=1, max_length=64, strict=False),
]
"""Layers of the target model, counted from 0; -1 is the last."""

SuffixThreshold = Annotated[int, Field(ge=1, le=1024)]
TokenId = Annotated[int, Field(ge=0, le=2**31 - 1)]
TreeSize = Annotated[int, Field(ge=1, le=MAX_DRAFT_LENGTH)]
ThinkingTokens = Annotated[
    tuple[TokenId, ...], Field(min_length=2, max_length=2, strict=False)
]
TreeTopK = Annotated[
    TreeSize | None,
    Field(description="Children that a node of a dynamic tree is given."),
]
TreeTokens = Annotated[
    TreeSize | None,
    Field(
        description="Nodes of a dynamic tree that are verified; tree_top_k times "
        "draft_length if unset."
    ),
]


class OneModelChain(ChainMethod):
    """A drafter that TensorRT-LLM runs inside the target's engine."""

    rejection_sampling: bool = Field(
        default=False,
        description="TensorRT-LLM: accept sampled drafts by p/q rejection in place of "
        "comparing them with a sampled target token: as exact, and more is accepted. "
        "Needs FlashInfer. Backend reference always rejects by p/q.",
    )


class EnhancedChain(OneModelChain):
    """One that a suffix automaton can overrule where the text repeats itself."""

    suffix_threshold: SuffixThreshold | None = Field(
        default=None,
        description="Take the draft from a suffix of the text that occurred before "
        "where at least this many tokens match; never if unset.",
    )

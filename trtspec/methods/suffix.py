"""``method: suffix``: a suffix automaton proposes what followed the longest match."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from trtspec.methods.base import ChainMethod
from trtspec.methods.exactness import Exactness
from trtspec.methods.faults import rule_error
from trtspec.methods.pytorch_rules import MAIN_ONLY
from trtspec.methods.reference_rules import exact_chain

LONGEST_POOLED_MATCH = 64
"""Tokens that a match in the pool of all requests is capped at."""
LARGEST_POOL = 1024
"""Requests whose text the pool can hold (tensorrt_llm/llmapi/llm_args.py)."""


class Suffix(ChainMethod):
    """Suffix automaton over prompt and output; needs no checkpoint."""

    summary: ClassVar[str] = "copies what followed the longest suffix seen before"
    needs: ClassVar[str] = "nothing"
    step: ClassVar[str] = "draft_length + 1"
    settings: ClassVar[tuple[Mapping[str, object], ...]] = ({"draft_length": 4},)
    of_request: ClassVar[frozenset[str]] = frozenset(
        {"draft_length", "max_matching_ngram"}
    )
    method: Literal["suffix"] = Field(
        description="Suffix automaton.", examples=["suffix"]
    )
    max_matching_ngram: int | None = Field(
        default=None,
        ge=1,
        le=4096,
        description="Longest suffix that is looked up; as long as it matches if unset.",
    )
    global_pool: bool = Field(
        default=False,
        description="Look the suffix up in the texts of other requests too.",
    )
    global_pool_size: int | None = Field(
        default=None,
        ge=1,
        le=LARGEST_POOL,
        description="Requests whose text the pool holds; limits.max_batch_size, at "
        "least 64, if unset.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Suffix:
        if self.global_pool_size is not None and not self.global_pool:
            raise rule_error(
                "global_pool_size",
                "has no effect: global_pool is not true",
                "global_pool_size only together with global_pool: true",
                "delete global_pool_size, or write global_pool: true",
            )
        longest = self.max_matching_ngram or 0
        if self.global_pool and longest > LONGEST_POOLED_MATCH:
            raise rule_error(
                "max_matching_ngram",
                f"is {longest}, with a pool of all requests",
                f"1 to {LONGEST_POOLED_MATCH} with global_pool: true",
                "lower it, or delete it for the longest match",
            )
        return self

    @property
    def follows_batch(self) -> bool:
        """Whether drafts are looked up in other requests' texts."""
        return self.global_pool or super().follows_batch

    def exactness(self) -> Iterable[Exactness]:
        """Each draft token is compared with one sampled from the target."""
        return (exact_chain("arXiv 2411.10666", chosen=True), *MAIN_ONLY)

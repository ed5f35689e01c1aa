"""``method: mtp``: next-token heads that are part of the target's checkpoint draft."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from trtspec.methods.draft_length import longest_draft
from trtspec.methods.dynamic_tree import require_dynamic_tree
from trtspec.methods.exactness import Exactness
from trtspec.methods.faults import rule_error
from trtspec.methods.one_model import (
    EnhancedChain,
    ThinkingTokens,
    TreeTokens,
    TreeTopK,
)
from trtspec.methods.pytorch_rules import (
    IGNORED,
    MAIN,
    R1_0,
    R1_1,
    R1_2,
    UNSETTLED,
    exact,
    greedy_only,
    lossy,
)
from trtspec.methods.trees import DYNAMIC

_RELAXED = "relaxed acceptance keeps any of the likeliest tokens within a margin"
_TREE = "a dynamic tree of MTP is documented for greedy decoding only"
_CHAIN = (
    greedy_only(R1_0, IGNORED),
    greedy_only(R1_1, IGNORED),
    greedy_only(R1_2, UNSETTLED),
    exact(MAIN),
)


class Mtp(EnhancedChain):
    """Multi-token prediction (arXiv 2412.19437): DeepSeek's heads and their like."""

    summary: ClassVar[str] = "next-token heads inside the target's checkpoint draft"
    method: Literal["mtp"] = Field(
        description="Multi-token prediction.", examples=["mtp"]
    )
    acceptance: Literal["exact", "relaxed"] = Field(  # type: ignore[assignment]
        default="exact",
        description="exact keeps the target's output distribution; relaxed takes any "
        "likely token while the model thinks, and is lossy.",
    )
    relaxed_top_k: int | None = Field(
        default=None,
        ge=1,
        le=1024,
        description="Likeliest tokens that relaxed acceptance takes.",
    )
    relaxed_delta: float | None = Field(
        default=None,
        ge=0.0,
        le=1.0,
        description="How far below the likeliest token's probability they may lie.",
    )
    thinking_tokens: ThinkingTokens | None = Field(
        default=None,
        examples=[[128798, 128799]],
        description="Ids of the tokens that begin and end the thinking phase; those of "
        "DeepSeek-R1 if unset.",
    )
    vanilla: bool = Field(
        default=False,
        description="Draft with one head per position; else the first one is applied "
        "again and again where the checkpoint has one.",
    )
    tree: Literal["dynamic"] | None = Field(
        default=None,
        description="What is drafted: a chain if unset; dynamic grows a tree by "
        "confidence.",
    )
    tree_top_k: TreeTopK = None
    tree_tokens: TreeTokens = None

    @model_validator(mode="after")
    def _consistent(self) -> Mtp:
        require_dynamic_tree(
            self.tree, self.tree_top_k, self.tree_tokens, self.draft_length
        )
        self._require_relaxed()
        return self

    def _require_relaxed(self) -> None:
        relaxed = self.acceptance == "relaxed"
        for key in ("relaxed_top_k", "relaxed_delta"):
            if relaxed and getattr(self, key) is None:
                raise rule_error(
                    "acceptance",
                    f"is relaxed, and {key} is not given",
                    "relaxed together with relaxed_top_k and relaxed_delta",
                    f"add {key}, or delete acceptance",
                )
        for key in ("relaxed_top_k", "relaxed_delta", "thinking_tokens"):
            if not relaxed and getattr(self, key) is not None:
                raise rule_error(
                    key,
                    "has no effect: acceptance is not relaxed",
                    f"{key} only together with acceptance: relaxed",
                    f"delete {key}, or write acceptance: relaxed",
                )

    @property
    def longest_draft(self) -> int:
        """Tokens of the chain, or nodes of the tree that are verified."""
        deepest = longest_draft(self.draft_length)
        if self.tree is None:
            return deepest
        assert self.tree_top_k is not None, "validated"
        return self.tree_tokens or self.tree_top_k * deepest

    @property
    def lossy_allowed(self) -> bool:
        """Whether the recipe accepts an output that is not the target's own."""
        return self.allow_lossy or self.acceptance == "relaxed"

    def exactness(self) -> Iterable[Exactness]:
        """By release; relaxed acceptance is never exact."""
        if self.acceptance == "relaxed":
            return lossy(_RELAXED)
        if self.tree == DYNAMIC:
            return (greedy_only(MAIN, _TREE),)
        return _CHAIN

"""``method: mtp``: next-token heads, mostly of the target's own checkpoint, draft."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from trtspec.methods.base import DrafterKind
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
from trtspec.methods.reference_rules import exact_chain, exact_tree, relaxed
from trtspec.methods.relaxed import LOSSY, require_relaxed
from trtspec.methods.trees import DYNAMIC

_PAPER = "arXiv 2412.19437"
TREE_UNSETTLED = "a dynamic tree of MTP is documented for greedy decoding only"
_CHAIN = (
    greedy_only(R1_0, IGNORED),
    greedy_only(R1_1, IGNORED),
    greedy_only(R1_2, UNSETTLED),
    exact(MAIN),
)


class Mtp(EnhancedChain):
    """Multi-token prediction (arXiv 2412.19437): DeepSeek's heads and their like."""

    summary: ClassVar[str] = (
        "next-token heads, mostly of the target's checkpoint, draft"
    )
    drafter_kind: ClassVar[DrafterKind | None] = "mtp"
    needs: ClassVar[str] = (
        "a target with next-token heads; reference takes them from elsewhere too"
    )
    step: ClassVar[str] = (
        "draft_length + 1; a dynamic tree: tree_tokens + 1, or else "
        "tree_top_k * draft_length + 1"
    )
    settings: ClassVar[tuple[Mapping[str, object], ...]] = (
        {"draft_length": 3},
        {"tree": DYNAMIC, "tree_top_k": 4},
        {"acceptance": "relaxed", "relaxed_top_k": 10, "relaxed_delta": 0.6},
        {"model": "path/to/heads"},
    )
    method: Literal["mtp"] = Field(
        description="Multi-token prediction.", examples=["mtp"]
    )
    model: str | None = Field(
        default=None,
        min_length=1,
        description="Checkpoint of heads that are kept outside the target's: directory "
        "(relative to the recipe) or Hugging Face id. Backend reference only; the "
        "target's own heads if unset.",
    )
    revision: str | None = Field(
        default=None,
        min_length=1,
        description="Revision of these heads on the hub; its default if unset.",
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
        require_relaxed(
            self.acceptance,
            {"relaxed_top_k": self.relaxed_top_k, "relaxed_delta": self.relaxed_delta},
            {"thinking_tokens": self.thinking_tokens},
        )
        self._require_one_head()
        if self.revision is not None and self.model is None:
            raise rule_error(
                "revision",
                "has no effect: model is not given",
                "revision only together with model",
                "delete revision, or add model",
            )
        return self

    def _require_one_head(self) -> None:
        if self.model is not None and self._branches_over_heads:
            raise rule_error(
                "tree",
                "is dynamic, and vanilla is true",
                "a dynamic tree only where one head drafts all positions",
                "delete tree or vanilla",
            )

    @property
    def _branches_over_heads(self) -> bool:
        """Whether a tree is wanted of one head per position; reference has none."""
        return self.vanilla and self.tree is not None

    @property
    def draft_model(self) -> str | None:
        """Reference of the heads' checkpoint; None if they are the target's own."""
        return self.model

    @property
    def named(self) -> str:
        """The method, with heads from elsewhere, which only one backend takes."""
        if self.model is not None:
            return f"{self.method} with a model of its own"
        return self.method + (" with a dynamic tree" if self.tree else "")

    @property
    def longest_draft(self) -> int:
        """Tokens of the chain, or nodes of the tree that are verified."""
        deepest = longest_draft(self.draft_length)
        if self.tree is None:
            return deepest
        assert self.tree_top_k is not None, "validated"
        return self.tree_tokens or self.tree_top_k * deepest

    def exactness(self) -> Iterable[Exactness]:
        """By release; relaxed acceptance is never exact."""
        here = () if self._branches_over_heads else (self._on_reference,)
        return here if self.model is not None else (*here, *self._on_pytorch)

    @property
    def _on_reference(self) -> Exactness:
        if self.acceptance == "relaxed":
            return relaxed(LOSSY)
        is_tree = self.tree == DYNAMIC
        return exact_tree(_PAPER, chosen=True) if is_tree else exact_chain(_PAPER)

    @property
    def _on_pytorch(self) -> Iterable[Exactness]:
        if self.acceptance == "relaxed":
            return lossy(LOSSY)
        return (greedy_only(MAIN, TREE_UNSETTLED),) if self.tree == DYNAMIC else _CHAIN

"""``method: pard``: a draft model that proposes all tokens in one forward."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from pydantic import Field

from trtspec.methods.base import DrafterKind
from trtspec.methods.exactness import Exactness
from trtspec.methods.one_model import EnhancedChain, TokenId
from trtspec.methods.pytorch_rules import MAIN_ONLY
from trtspec.methods.reference_rules import exact_chain


class Pard(EnhancedChain):
    """Parallel draft model with mask tokens (arXiv 2504.18583)."""

    summary: ClassVar[str] = "a draft model proposes all its tokens in one forward"
    drafter_kind: ClassVar[DrafterKind | None] = "model"
    needs: ClassVar[str] = "a causal LM with the target's token ids, trained for PARD"
    step: ClassVar[str] = (
        "2 * draft_length, masks included; backend reference: draft_length + 1"
    )
    settings: ClassVar[tuple[Mapping[str, object], ...]] = (
        {"model": "path/to/draft-model", "draft_length": 4},
    )
    method: Literal["pard"] = Field(
        description="Parallel draft model.", examples=["pard"]
    )
    model: str = Field(
        min_length=1,
        description="The draft model, trained for PARD: directory (relative to the "
        "recipe) or Hugging Face id.",
        examples=["amd/PARD-Llama-3.2-1B"],
    )
    revision: str | None = Field(
        default=None,
        min_length=1,
        description="Revision of the draft model on the hub; its default if unset.",
    )
    mask_token_id: TokenId | None = Field(
        default=None,
        description="Id of the mask token; the checkpoint's own if unset.",
    )

    @property
    def draft_model(self) -> str | None:
        """Reference of the checkpoint that drafts."""
        return self.model

    @property
    def verified_tokens(self) -> int:
        """Tokens of a step per request: draft length K takes 2K (llm_args.py)."""
        return 2 * self.longest_draft

    def exactness(self) -> Iterable[Exactness]:
        """Of TensorRT-LLM, in the newest releases only."""
        return (exact_chain("arXiv 2504.18583"), *MAIN_ONLY)

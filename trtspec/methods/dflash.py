"""``method: dflash``: a block drafter that reads the target's hidden states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from pydantic import Field

from trtspec.methods.base import DrafterKind
from trtspec.methods.exactness import Exactness
from trtspec.methods.one_model import LayerIds, OneModelChain, TokenId
from trtspec.methods.pytorch_rules import MAIN_ONLY
from trtspec.methods.reference_rules import exact_chain


class DFlash(OneModelChain):
    """DFlash (arXiv 2602.06036): a block of tokens in one diffusion-like forward."""

    summary: ClassVar[str] = "a block drafter reads the target's hidden states"
    drafter_kind: ClassVar[DrafterKind | None] = "dflash"
    needs: ClassVar[str] = "a DFlash drafter that was trained on this target"
    step: ClassVar[str] = "draft_length + 1"
    settings: ClassVar[tuple[Mapping[str, object], ...]] = (
        {"model": "path/to/drafter", "draft_length": 4},
    )
    method: Literal["dflash"] = Field(description="DFlash.", examples=["dflash"])
    model: str = Field(
        min_length=1,
        description="The drafter's checkpoint: directory (relative to the recipe) or "
        "Hugging Face id.",
        examples=["z-lab/Qwen3-8B-DFlash-b16"],
    )
    revision: str | None = Field(
        default=None,
        min_length=1,
        description="Revision of the drafter on the hub; its default if unset.",
    )
    mask_token_id: TokenId | None = Field(
        default=None,
        description="Id of the mask token; the checkpoint's own if unset.",
    )
    target_layers: LayerIds | None = Field(
        default=None,
        examples=[[1, 9, 17, 25, 33]],
        description="Target layers that the drafter reads; the checkpoint's own if "
        "unset.",
    )

    @property
    def draft_model(self) -> str | None:
        """Reference of the checkpoint that drafts."""
        return self.model

    def exactness(self) -> Iterable[Exactness]:
        """Of TensorRT-LLM, in the newest releases only."""
        return (exact_chain("arXiv 2602.06036"), *MAIN_ONLY)

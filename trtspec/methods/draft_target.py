"""``method: draft_target``: a smaller model with the same token ids proposes."""

from typing import ClassVar, Literal

from pydantic import Field

from trtspec.methods.base import DraftingMethod


class DraftTarget(DraftingMethod):
    """A draft model proposes a chain (arXiv 2211.17192, 2302.01318)."""

    summary: ClassVar[str] = "a smaller causal LM with the same token ids proposes"
    method: Literal["draft_target"] = Field(
        description="Separate draft model.", examples=["draft_target"]
    )
    model: str = Field(
        min_length=1,
        description="The model that drafts: directory (relative to the recipe), "
        "Hugging Face id or demo model.",
        examples=["HuggingFaceTB/SmolLM2-135M-Instruct"],
    )
    revision: str | None = Field(
        default=None,
        min_length=1,
        description="Revision of the draft model on the hub; its default if unset.",
    )

    @property
    def draft_model(self) -> str | None:
        """Reference of the checkpoint that drafts."""
        return self.model

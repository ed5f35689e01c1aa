"""What every speculation method has in common."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from trtspec.methods.draft_length import DraftLength, draft_length_at, longest_draft


class Method(BaseModel):
    """Parameters of a speculation method; ``method`` is the discriminator."""

    # strict: "8", 8.0 and true are not the number 8
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False
    )

    method: str
    summary: ClassVar[str]
    """One line that says where the proposed tokens come from."""

    def draft_length_at(self, running: int) -> int:
        """Tokens to propose per request with ``running`` requests in the batch."""
        return 0

    @property
    def longest_draft(self) -> int:
        """The largest number of tokens a step can propose for one request."""
        return 0

    @property
    def draft_model(self) -> str | None:
        """Reference of the checkpoint that drafts; None if the method has none."""
        return None


class DraftingMethod(Method):
    """A method that proposes tokens, with the length of its drafts."""

    draft_length: DraftLength = Field(
        description="Tokens proposed per step: one number, or a map such as "
        "{8: 4, 32: 2}, read as: up to 8 running requests 4, up to 32 2, above none.",
        examples=[4, {"8": 4, "32": 2}],
    )
    acceptance: Literal["exact"] = Field(
        default="exact",
        description="Rule that accepts draft tokens; exact keeps the target model's "
        "output distribution.",
    )

    def draft_length_at(self, running: int) -> int:
        """Tokens to propose per request with ``running`` requests in the batch."""
        return draft_length_at(self.draft_length, running)

    @property
    def longest_draft(self) -> int:
        """The largest number of tokens a step can propose for one request."""
        return longest_draft(self.draft_length)

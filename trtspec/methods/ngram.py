"""``method: ngram``: propose what followed the last n tokens earlier in the context."""

from typing import ClassVar, Literal

from pydantic import Field

from trtspec.methods.base import DraftingMethod


class NGram(DraftingMethod):
    """Prompt lookup over prompt and output; needs no checkpoint."""

    summary: ClassVar[str] = "copies what followed the same n-gram earlier in the text"
    method: Literal["ngram"] = Field(description="Prompt lookup.")
    max_matching_ngram: int = Field(
        default=3,
        ge=1,
        le=16,
        strict=True,
        description="Longest n-gram at the end of the text that is looked up; shorter "
        "ones are tried when it does not occur.",
    )

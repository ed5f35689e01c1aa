"""``method: ngram``: propose what followed the last n tokens earlier in the context."""

from collections.abc import Iterable
from typing import ClassVar, Literal

from pydantic import Field

from trtspec.methods.base import ChainMethod
from trtspec.methods.exactness import Exactness
from trtspec.methods.external_drafts import BY_TOKENS, REFERENCE_CHAIN
from trtspec.methods.pytorch_rules import TWO_MODELS


class NGram(ChainMethod):
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

    def exactness(self) -> Iterable[Exactness]:
        """Exact on the reference engine; greedy only where drafts go by tokens."""
        return (REFERENCE_CHAIN, BY_TOKENS, *TWO_MODELS)

"""``method: ngram``: propose what followed the last n tokens earlier in the context."""

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from pydantic import Field

from trtspec.methods.base import ChainMethod
from trtspec.methods.exactness import Exactness
from trtspec.methods.external_drafts import BY_TOKENS
from trtspec.methods.pytorch_rules import TWO_MODELS
from trtspec.methods.reference_rules import exact_chain


class NGram(ChainMethod):
    """Prompt lookup over prompt and output; needs no checkpoint."""

    summary: ClassVar[str] = "copies what followed the same n-gram earlier in the text"
    needs: ClassVar[str] = "nothing"
    step: ClassVar[str] = "draft_length + 1"
    settings: ClassVar[tuple[Mapping[str, object], ...]] = ({"draft_length": 4},)
    of_request: ClassVar[frozenset[str]] = frozenset(
        {"draft_length", "max_matching_ngram"}
    )
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
        return (exact_chain(chosen=True), BY_TOKENS, *TWO_MODELS)

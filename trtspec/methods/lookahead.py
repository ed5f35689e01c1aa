"""``method: lookahead``: the target drafts for itself from n-grams it has seen pass."""

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from trtspec.methods.base import DraftingMethod
from trtspec.methods.draft_length import MAX_DRAFT_LENGTH
from trtspec.methods.exactness import Exactness
from trtspec.methods.faults import key_to_blame, rule_error
from trtspec.methods.reference_rules import exact_tree


class Lookahead(DraftingMethod):
    """Jacobi iterations in a window, verified n-grams (arXiv 2402.02057)."""

    summary: ClassVar[str] = "the target's own n-grams from parallel Jacobi iterations"
    needs: ClassVar[str] = "nothing"
    step: ClassVar[str] = "(window_size + verification_set_size) * (ngram_size - 1)"
    settings: ClassVar[tuple[Mapping[str, object], ...]] = ({},)
    of_request: ClassVar[frozenset[str]] = frozenset(
        {"window_size", "ngram_size", "verification_set_size"}
    )
    method: Literal["lookahead"] = Field(description="Lookahead decoding.")
    window_size: int = Field(
        default=4, ge=1, le=MAX_DRAFT_LENGTH, description="W: positions ahead."
    )
    ngram_size: int = Field(
        default=3, ge=1, le=MAX_DRAFT_LENGTH, description="N: tokens of an n-gram."
    )
    verification_set_size: int = Field(
        default=4, ge=0, le=MAX_DRAFT_LENGTH, description="G: n-grams verified at once."
    )

    @model_validator(mode="after")
    def _legal(self) -> "Lookahead":
        wng = (self.window_size, self.ngram_size, self.verification_set_size)
        if self.ngram_size == 1 and wng != (1, 1, 0):
            raise rule_error(
                "ngram_size",
                "is 1, which has no n-grams to look for",
                "ngram_size 2 or more, or window_size 1 and verification_set_size 0",
                "write ngram_size: 2, or method: none for plain decoding",
            )
        if self.longest_draft > MAX_DRAFT_LENGTH:
            sizes = ("window_size", "ngram_size", "verification_set_size")
            raise rule_error(
                key_to_blame(sizes, self.model_fields_set),
                f"is too large: window, n-gram and verification set of {wng} take "
                f"{self.longest_draft} tokens to verify",
                f"sizes that take up to {MAX_DRAFT_LENGTH} tokens",
                "lower window_size, ngram_size or verification_set_size",
            )
        return self

    @property
    def longest_draft(self) -> int:
        """Tokens to verify: (0 if N = 1 else N - 2) + (W - 1 + G)(N - 1).

        Source: LookaheadDecodingConfig in cpp/include/tensorrt_llm/executor;
        (7, 7, 7) gives 83.
        """
        w, n, g = self.window_size, self.ngram_size, self.verification_set_size
        return max(n - 2, 0) + (w - 1 + g) * (n - 1)

    def exactness(self) -> Iterable[Exactness]:
        """The decoder of engines is fixed to greedy."""
        return (
            exact_tree("arXiv 2402.02057", chosen=True),
            Exactness(
                "tensorrt",
                sampled="TensorRT-LLM's lookahead decodes greedily whatever is asked",
                source="cpp/tensorrt_llm/layers/lookaheadDecodingLayer",
            ),
        )

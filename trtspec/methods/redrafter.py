"""``method: redrafter``: a recurrent drafter searches beams of tokens."""

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from trtspec.methods.base import DrafterKind, TrainedDrafter
from trtspec.methods.draft_length import MAX_DRAFT_LENGTH
from trtspec.methods.exactness import Exactness
from trtspec.methods.faults import key_to_blame, rule_error
from trtspec.methods.reference_rules import exact_tree

_BEST_BEAM = "the best of the beam-searched drafts is kept, which favours likely tokens"
_SOURCE = "cpp/tensorrt_llm/layers (explicit draft tokens); #3278"


class ReDrafter(TrainedDrafter):
    """A recurrent head drafts several beams, all fixed at build (arXiv 2403.09919)."""

    summary: ClassVar[str] = "a recurrent head on the target drafts several beams"
    drafter_kind: ClassVar[DrafterKind | None] = "redrafter"
    needs: ClassVar[str] = "a recurrent drafter that was trained on this target"
    step: ClassVar[str] = "num_beams * draft_length_per_beam + 1"
    settings: ClassVar[tuple[Mapping[str, object], ...]] = (
        {"model": "path/to/drafter"},
        {"greedy_search": False},
    )
    method: Literal["redrafter"] = Field(
        description="Recurrent drafter.", examples=["redrafter"]
    )
    num_beams: int = Field(
        default=5, ge=1, le=MAX_DRAFT_LENGTH, description="Beams that are drafted."
    )
    draft_length_per_beam: int = Field(
        default=5,
        ge=1,
        le=MAX_DRAFT_LENGTH,
        description="Tokens of each beam; not more than the drafter was trained for.",
    )
    greedy_search: bool = Field(
        default=True,
        description="TensorRT-LLM's engine backend: accept greedily; false samples, "
        "which is lossy there.",
    )

    @model_validator(mode="after")
    def _draft_in_bounds(self) -> "ReDrafter":
        if self.longest_draft > MAX_DRAFT_LENGTH:
            sizes = ("num_beams", "draft_length_per_beam")
            raise rule_error(
                key_to_blame(sizes, self.model_fields_set),
                f"is too large: {self.num_beams} beams of "
                f"{self.draft_length_per_beam} tokens are {self.longest_draft} tokens "
                "to verify",
                f"num_beams times draft_length_per_beam up to {MAX_DRAFT_LENGTH}",
                "lower one of them",
            )
        return self

    @property
    def longest_draft(self) -> int:
        """Beams times their length: what the builder makes ``max_draft_len``."""
        return self.num_beams * self.draft_length_per_beam

    def exactness(self) -> Iterable[Exactness]:
        """Of engines, greedy search is exact; the other never is."""
        here = exact_tree("arXiv 2403.09919", chosen=True)
        if not self.greedy_search:
            return (here, Exactness("tensorrt", "", _BEST_BEAM, _BEST_BEAM, _SOURCE))
        ignored = "an engine built with greedy search ignores sampling parameters"
        return (here, Exactness("tensorrt", sampled=ignored, source=_SOURCE))

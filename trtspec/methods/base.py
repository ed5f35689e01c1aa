"""What every speculation method has in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from trtspec.methods.draft_length import DraftLength, draft_length_at, longest_draft
from trtspec.methods.exactness import EXACT_EVERYWHERE, Exactness

if TYPE_CHECKING:
    from packaging.version import Version

DrafterKind = Literal[
    "model", "medusa", "eagle", "redrafter", "eagle3", "dflash", "mtp"
]
"""What a drafter's checkpoint is: a causal LM of its own, or parts of a method."""


class Method(BaseModel):
    """Parameters of a speculation method; ``method`` is the discriminator."""

    # strict: "8", 8.0 and true are not the number 8
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False
    )

    method: str
    summary: ClassVar[str]
    """One line that says where the proposed tokens come from."""
    drafter_kind: ClassVar[DrafterKind | None] = None
    """What a checkpoint that it drafts with is; None if the method takes none."""
    needs: ClassVar[str]
    """What it drafts with beside the target model, in words."""
    step: ClassVar[str]
    """``verified_tokens`` as a formula over the parameters."""
    settings: ClassVar[tuple[Mapping[str, object], ...]]
    """Parameters to show it with: the fewest that it takes, then what to add to them
    for each further way of speculating that it has."""
    of_request: ClassVar[frozenset[str]] = frozenset()
    """Parameters that a single request may choose for itself."""
    always_drafts: ClassVar[bool] = False
    """Whether a TensorRT engine for it cannot decode without drafting."""

    def draft_length_at(self, running: int) -> int:
        """Tokens to propose per request with ``running`` requests in the batch."""
        return 0

    @property
    def longest_draft(self) -> int:
        """The largest number of tokens a step can propose for one request.

        A tree counts with all its nodes: each of them is verified.
        """
        return 0

    @property
    def verified_tokens(self) -> int:
        """Most tokens that a verification step computes for one request."""
        return self.longest_draft + 1

    @property
    def draft_model(self) -> str | None:
        """Reference of the checkpoint that drafts; None if the method has none."""
        return None

    @property
    def follows_batch(self) -> bool:
        """Whether what is drafted for one request depends on the others."""
        return False

    @property
    def named(self) -> str:
        """The method, with what decides on which backends it runs."""
        return self.method

    @property
    def lossy_allowed(self) -> bool:
        """Whether the recipe accepts an output that is not the target's own."""
        return False

    def exactness(self) -> Iterable[Exactness]:
        """Say, per backend and version range, what speculation does to the output."""
        return EXACT_EVERYWHERE

    def covered(self, backend: str, version: Version | None) -> bool:
        """Whether it is known what it does there; what is not is not established.

        :param version: of TensorRT-LLM; None is any.
        """
        return any(entry.covers(backend, version) for entry in self.exactness())


class DraftingMethod(Method):
    """A method that proposes tokens."""

    allow_lossy: bool = Field(
        default=False,
        description="Go ahead where a backend's own rule changes the output "
        "distribution; every output then bears the word lossy.",
    )

    def draft_length_at(self, running: int) -> int:
        """Tokens to propose per request; as many for every batch."""
        return self.longest_draft

    @property
    def lossy_allowed(self) -> bool:
        """Whether the recipe accepts an output that is not the target's own.

        It does so, too, by naming a rule of acceptance that is not the exact one.
        """
        return self.allow_lossy or getattr(self, "acceptance", "exact") != "exact"


class ChainMethod(DraftingMethod):
    """A method that proposes a chain of tokens, as long as it is asked for."""

    of_request: ClassVar[frozenset[str]] = frozenset({"draft_length"})
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

    @property
    def follows_batch(self) -> bool:
        """Whether the draft length goes by the number of running requests."""
        return isinstance(self.draft_length, Mapping)

    def draft_length_at(self, running: int) -> int:
        """Tokens to propose per request with ``running`` requests in the batch."""
        return draft_length_at(self.draft_length, running)

    @property
    def longest_draft(self) -> int:
        """The largest number of tokens a step can propose for one request."""
        return longest_draft(self.draft_length)


class TrainedDrafter(DraftingMethod):
    """A method whose drafter was trained on the target model's hidden states."""

    always_drafts: ClassVar[bool] = True
    model: str = Field(
        min_length=1,
        description="The drafter's checkpoint: directory (relative to the recipe) or "
        "Hugging Face id.",
        examples=["path/to/drafter"],
    )
    revision: str | None = Field(
        default=None,
        min_length=1,
        description="Revision of the drafter on the hub; its default if unset.",
    )

    @property
    def draft_model(self) -> str | None:
        """Reference of the checkpoint that drafts."""
        return self.model

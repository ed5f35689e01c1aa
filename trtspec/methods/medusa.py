"""``method: medusa``: extra heads on the target model propose a tree."""

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from trtspec.methods.base import DrafterKind, TrainedDrafter
from trtspec.methods.draft_length import MAX_DRAFT_LENGTH
from trtspec.methods.exactness import Exactness
from trtspec.methods.faults import require_together
from trtspec.methods.reference_rules import exact_tree, typical
from trtspec.methods.tree_field import Tree
from trtspec.methods.trees import DEFAULT_TREE, TreeShape, require_fit, tree_shape
from trtspec.methods.typical import LOSSY, PosteriorThreshold, TypicalOrExact

MAX_HEADS = 32


class Medusa(TrainedDrafter):
    """Heads on the last hidden state, one per position ahead (arXiv 2401.10774)."""

    summary: ClassVar[str] = "heads on the target's last hidden state propose a tree"
    drafter_kind: ClassVar[DrafterKind | None] = "medusa"
    needs: ClassVar[str] = "Medusa heads that were trained on this target"
    step: ClassVar[str] = "nodes of the tree + 1"
    settings: ClassVar[tuple[Mapping[str, object], ...]] = (
        {"model": "path/to/heads"},
        {"acceptance": "typical", "posterior_threshold": 0.09},
    )
    method: Literal["medusa"] = Field(description="Medusa heads.", examples=["medusa"])
    num_heads: int = Field(
        default=4,
        ge=1,
        le=MAX_HEADS,
        description="Heads to take from the checkpoint; the tree is at most as deep.",
    )
    num_layers: int = Field(
        default=1, ge=1, le=16, description="Residual layers in each head."
    )
    max_draft_tokens: int = Field(
        default=63,
        ge=1,
        le=MAX_DRAFT_LENGTH,
        description="Nodes that the engine has room for; the tree has at most as many.",
    )
    tree: Tree = DEFAULT_TREE
    acceptance: TypicalOrExact = "exact"
    posterior_threshold: PosteriorThreshold = None

    @model_validator(mode="after")
    def _consistent(self) -> "Medusa":
        require_together(self, "acceptance", "typical", "posterior_threshold")
        require_fit(
            self.shape,
            "num_heads",
            self.num_heads,
            self.max_draft_tokens,
            self.model_fields_set,
        )
        return self

    @property
    def shape(self) -> TreeShape:
        """Nodes, depth and inner nodes of the tree."""
        return tree_shape(self.tree)

    @property
    def longest_draft(self) -> int:
        """Nodes of the tree."""
        return self.shape.nodes

    @property
    def named(self) -> str:
        """The method, with typical acceptance, which engines do not have."""
        return self.method + (" with acceptance: typical" if self.is_typical else "")

    @property
    def is_typical(self) -> bool:
        """Whether likely tokens are accepted in place of exact rejection."""
        return self.acceptance == "typical"

    def exactness(self) -> Iterable[Exactness]:
        """Greedy only on engines, by contract; typical on the reference engine only."""
        if self.is_typical:
            return (typical(LOSSY),)
        return (
            exact_tree("arXiv 2401.10774", chosen=True),
            Exactness(
                "tensorrt",
                sampled="TensorRT-LLM's Medusa decoding ignores temperature and top-p",
                source="examples/medusa/README.md; cpp decoding mode flags",
            ),
        )

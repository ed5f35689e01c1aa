"""``method: eagle``: a small head drafts on the target's hidden states, as a tree."""

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from trtspec.methods.base import DrafterKind, TrainedDrafter
from trtspec.methods.draft_length import MAX_DRAFT_LENGTH
from trtspec.methods.exactness import Exactness
from trtspec.methods.faults import is_value, require_together, rule_error
from trtspec.methods.reference_rules import exact_tree, typical
from trtspec.methods.tree_field import DynamicTree
from trtspec.methods.trees import (
    DEFAULT_TREE,
    DYNAMIC,
    TreeShape,
    require_fit,
    tree_shape,
)
from trtspec.methods.typical import LOSSY, PosteriorThreshold, TypicalOrExact

_SOURCE = "examples/eagle/README.md; cpp/tensorrt_llm/layers (EAGLE decoding)"
_IGNORED = "without a posterior threshold TensorRT-LLM's EAGLE decodes greedily"


class Eagle(TrainedDrafter):
    """EAGLE-1 with a fixed tree (arXiv 2401.15077), or EAGLE-2 (arXiv 2406.16858).

    The tree of EAGLE-2 grows by the drafter's confidence.
    """

    summary: ClassVar[str] = "a small head on the target's hidden states drafts a tree"
    drafter_kind: ClassVar[DrafterKind | None] = "eagle"
    needs: ClassVar[str] = "an EAGLE-1 or EAGLE-2 head that was trained on this target"
    step: ClassVar[str] = (
        "nodes of the tree + 1; a dynamic tree has dynamic_top_k + "
        "dynamic_top_k ** 2 * (num_layers - 1) nodes, at most max_draft_tokens"
    )
    settings: ClassVar[tuple[Mapping[str, object], ...]] = (
        {"model": "path/to/head"},
        {"tree": DYNAMIC, "dynamic_top_k": 10},
        {"acceptance": "typical", "posterior_threshold": 0.09},
    )
    method: Literal["eagle"] = Field(description="EAGLE-1 and 2.", examples=["eagle"])
    num_layers: int = Field(
        default=4,
        ge=1,
        le=MAX_DRAFT_LENGTH,
        description="Levels of the tree that are drafted; a fixed tree is exactly as "
        "deep.",
    )
    max_draft_tokens: int = Field(
        default=63,
        ge=1,
        le=MAX_DRAFT_LENGTH,
        description="Nodes that the engine has room for; the tree has at most as many.",
    )
    max_non_leaves_per_layer: int = Field(
        default=10,
        ge=1,
        le=MAX_DRAFT_LENGTH,
        description="Most nodes with children in one level of the tree.",
    )
    tree: DynamicTree = DEFAULT_TREE
    dynamic_top_k: int | None = Field(
        default=None,
        ge=1,
        le=MAX_DRAFT_LENGTH,
        description="Children that a node is given; tree: dynamic (EAGLE-2) needs it.",
    )
    acceptance: TypicalOrExact = "exact"
    posterior_threshold: PosteriorThreshold = None

    @model_validator(mode="after")
    def _consistent(self) -> "Eagle":
        require_together(self, "acceptance", "typical", "posterior_threshold")
        require_together(self, "tree", DYNAMIC, "dynamic_top_k")
        if not self.is_dynamic:
            self._require_fixed_tree()
        return self

    def _require_fixed_tree(self) -> None:
        shape, given = self.shape, self.model_fields_set
        levels, inner = self.num_layers, self.max_non_leaves_per_layer
        require_fit(shape, "num_layers", levels, self.max_draft_tokens, given)
        if shape.depth != levels:
            raise rule_error(
                "num_layers",
                f"{is_value('num_layers', levels, given)}, but the tree is "
                f"{shape.depth} levels deep",
                "num_layers equal to the depth of the tree",
                f"write num_layers: {shape.depth}",
            )
        if shape.most_inner_nodes > inner:
            key, needed = "max_non_leaves_per_layer", shape.most_inner_nodes
            raise rule_error(
                key,
                f"{is_value(key, inner, given)}, but a level of the tree has {needed} "
                "nodes with children",
                f"{needed} or more, or a tree with fewer",
                f"write {key}: {needed}",
            )

    @property
    def is_dynamic(self) -> bool:
        """Whether the tree grows by the drafter's confidence (EAGLE-2)."""
        return self.tree == DYNAMIC

    @property
    def shape(self) -> TreeShape:
        """Nodes, depth and inner nodes of a fixed tree."""
        return tree_shape(self.tree)

    @property
    def longest_draft(self) -> int:
        """Nodes of the tree; a dynamic one is cut at ``max_draft_tokens``.

        With N children per node and L levels: min(N + N*N*(L-1), max_draft_tokens)
        (examples/eagle/README.md).
        """
        if self.dynamic_top_k is None:
            return self.shape.nodes
        grown = self.dynamic_top_k + self.dynamic_top_k**2 * (self.num_layers - 1)
        return min(grown, self.max_draft_tokens)

    def exactness(self) -> Iterable[Exactness]:
        """Greedy only on engines; typical acceptance is never exact when sampling."""
        if self.acceptance == "typical":
            return (typical(LOSSY), Exactness("tensorrt", "", LOSSY, LOSSY, _SOURCE))
        paper = "arXiv 2406.16858" if self.is_dynamic else "arXiv 2401.15077"
        return (
            exact_tree(paper, chosen=self.is_dynamic),
            Exactness("tensorrt", sampled=_IGNORED, source=_SOURCE),
        )

"""``method: eagle3``: one layer drafts on three hidden states of the target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from trtspec.methods.base import DrafterKind
from trtspec.methods.draft_length import longest_draft
from trtspec.methods.dynamic_tree import require_dynamic_tree, require_fixed_tree
from trtspec.methods.exactness import Exactness
from trtspec.methods.one_model import EnhancedChain, LayerIds, TreeTokens, TreeTopK
from trtspec.methods.pytorch_rules import MAIN, ONE_MODEL, TWO_MODELS, exact
from trtspec.methods.reference_rules import exact_chain, exact_tree
from trtspec.methods.tree_field import DynamicTree
from trtspec.methods.trees import DYNAMIC, tree_shape


class Eagle3(EnhancedChain):
    """EAGLE-3 (arXiv 2503.01840): a chain, a fixed tree or a dynamic one."""

    summary: ClassVar[str] = "one trained layer drafts on three of the target's states"
    drafter_kind: ClassVar[DrafterKind | None] = "eagle3"
    needs: ClassVar[str] = "an EAGLE-3 head that was trained on this target"
    step: ClassVar[str] = (
        "draft_length + 1; a tree: its nodes + 1, of a dynamic one tree_tokens or else "
        "tree_top_k * draft_length"
    )
    settings: ClassVar[tuple[Mapping[str, object], ...]] = (
        {"model": "path/to/head", "draft_length": 4},
        {"tree": DYNAMIC, "tree_top_k": 4},
        {"tree": [[0], [1], [0, 0]]},
        {"two_model": True},
    )
    of_request: ClassVar[frozenset[str]] = frozenset(
        {"draft_length", "tree", "tree_top_k", "tree_tokens"}
    )
    method: Literal["eagle3"] = Field(description="EAGLE-3.", examples=["eagle3"])
    model: str = Field(
        min_length=1,
        description="The head's checkpoint: directory (relative to the recipe) or "
        "Hugging Face id.",
        examples=["yuhuili/EAGLE3-LLaMA3.1-Instruct-8B"],
    )
    revision: str | None = Field(
        default=None,
        min_length=1,
        description="Revision of the head on the hub; its default if unset.",
    )
    tree: DynamicTree | None = Field(
        default=None,
        description="What is drafted: a chain if unset; dynamic grows a tree by the "
        "head's confidence; or a fixed tree as a list of paths.",
    )
    tree_top_k: TreeTopK = None
    tree_tokens: TreeTokens = None
    layers_to_capture: LayerIds | None = Field(
        default=None,
        examples=[[1, 15, 28]],
        description="Target layers whose hidden states the head reads, of L layers; "
        "TensorRT-LLM takes 1, L/2-1 and L-4 if unset.",
    )
    two_model: bool | None = Field(
        default=None,
        description="Run head and target as two models where the release still can "
        "(1.0 to 1.2). Unset: only where a map of draft lengths needs it (1.1, 1.2).",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Eagle3:
        require_dynamic_tree(
            self.tree, self.tree_top_k, self.tree_tokens, self.draft_length
        )
        if self.tree is not None and not self.is_dynamic:
            require_fixed_tree(self.tree, self.draft_length)
        return self

    @property
    def draft_model(self) -> str | None:
        """Reference of the checkpoint that drafts."""
        return self.model

    @property
    def named(self) -> str:
        """The method, with what only some releases or backends have."""
        if self.tree is not None:
            return (
                f"{self.method} with a {'dynamic' if self.is_dynamic else 'fixed'} tree"
            )
        return self.method + (" with two_model: true" if self.two_model else "")

    @property
    def is_dynamic(self) -> bool:
        """Whether the tree grows by the head's confidence."""
        return self.tree == DYNAMIC

    @property
    def longest_draft(self) -> int:
        """Tokens of the chain, or nodes of the tree that are verified."""
        if self.tree is None:
            return longest_draft(self.draft_length)
        if not self.is_dynamic:
            return tree_shape(self.tree).nodes
        assert self.tree_top_k is not None, "validated"
        return self.tree_tokens or self.tree_top_k * longest_draft(self.draft_length)

    def exactness(self) -> Iterable[Exactness]:
        """By release: one-model or two-model engines, trees only in the newest.

        With a map of draft lengths, and unless ``two_model`` is given, it is two models
        on 1.1 and 1.2.
        """
        if self.tree is not None:
            on_main = (exact(MAIN),) if self.is_dynamic else ()
            return (self._on_reference, *on_main)
        if self.two_model is None and isinstance(self.draft_length, Mapping):
            return (self._on_reference, ONE_MODEL[0], *TWO_MODELS[1:])
        return (self._on_reference, *(TWO_MODELS[:-1] if self.two_model else ONE_MODEL))

    @property
    def _on_reference(self) -> Exactness:
        paper = "arXiv 2503.01840"
        if self.tree is None:
            return exact_chain(paper)
        return exact_tree(paper, chosen=self.is_dynamic)

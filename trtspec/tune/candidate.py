"""What is tuned: an artifact's method, and the draft lengths that can be told apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

from trtspec.build.artifact import Artifact
from trtspec.errors import UsageError
from trtspec.methods import ChainMethod, Medusa, Method
from trtspec.recipe.schema import Recipe
from trtspec.tune.rank_tree import Tree, comb

RANKS = 8
"""Of each Medusa head so many of its likeliest tokens are looked at."""
SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32)
"""Nodes of the trees that are looked at."""

LONGEST = 8
"""Draft tokens per step that are looked at unless told otherwise."""

WHOLE = frozenset({"dflash", "user"})
"""Methods whose draft of K tokens need not begin with their draft of fewer: a block
that is drafted at once, and what a user wrote."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One method of the comparison.

    :param name: as it stands in tables.
    :param method: with the longest draft that is looked at.
    :param lengths: draft lengths that its trace tells of, longest last; 0 is not among
        them, it is everyone's.
    :param original: the recipe that the artifact stands for, where it is of another
        backend.
    """

    name: str
    artifact: Artifact
    method: Method
    lengths: tuple[int, ...]
    original: Recipe | None = None

    @property
    def ranked(self) -> bool:
        """Whether one trace tells of every tree, and lengths are numbers of nodes."""
        return self.method.method == "medusa"

    @property
    def cut_anywhere(self) -> bool:
        """Whether a shorter draft is the beginning of a longer one."""
        return can_cut(self.method)

    def traced_artifact(self) -> Artifact:
        """Give the artifact with a recipe that drafts as long as it is looked at."""
        speculation = {"speculation": self.method}
        return replace(
            self.artifact, recipe=self.artifact.recipe.model_copy(update=speculation)
        )

    def as_deployed(self) -> Candidate:
        """Give the candidate as its own backend would have it, to be priced."""
        recipe = self.original or self.artifact.recipe
        return replace(self, artifact=replace(self.artifact, recipe=recipe))

    def method_with(self, length: int | dict[int, int]) -> Method:
        """Give the method with another draft length."""
        if not self.cut_anywhere:
            return self.method
        return with_length(self.method, length)


def can_cut(method: Method) -> bool:
    """Whether the trace of a long draft tells what shorter ones would do."""
    return (
        isinstance(method, ChainMethod)
        and method.method not in WHOLE
        and getattr(method, "tree", None) is None
    )


def with_length(method: Method, length: int | dict[int, int]) -> Method:
    """Give a chain method with another draft length."""
    return type(method).model_validate({**method.model_dump(), "draft_length": length})


def with_tree_of(method: Method, tree: Tree) -> Method:
    """Give Medusa with another tree."""
    values = {"tree": tree, "max_draft_tokens": max(len(tree), 1)}
    return type(method).model_validate({**method.model_dump(), **values})


def candidate_of(artifact: Artifact, name: str, longest: int = LONGEST) -> Candidate:
    """Say which lengths of an artifact's method are looked at.

    :param longest: of a chain that may be cut; other methods keep the recipe's setting.
    :raises UsageError: for a method without drafts, or one that is lossy.
    """
    method = artifact.recipe.speculation
    if method.method == "none":
        raise UsageError(
            "method none drafts nothing, so there is nothing to tune",
            where=artifact.name,
            allowed="a recipe with a speculation method",
            action="tune the other recipes; none is compared with each of them anyway",
        )
    if (rule := getattr(method, "acceptance", "exact")) != "exact":
        raise UsageError(
            f"acceptance {rule} is lossy: its answers depend on the drafts",
            where=artifact.name,
            allowed="acceptance exact: what a trace holds for",
            action="tune a copy of the recipe with acceptance: exact",
        )
    if isinstance(method, Medusa):
        tree = comb(RANKS, method.num_heads)
        shown = with_tree_of(method, tree)
        return Candidate(name, artifact, shown, SIZES)
    if can_cut(method):
        lengths = tuple(range(1, longest + 1))
        return Candidate(name, artifact, with_length(method, longest), lengths)
    return Candidate(name, artifact, method, (method.draft_length_at(1),))

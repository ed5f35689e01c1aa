"""What is tuned: an artifact's method, and the draft lengths that can be told apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

from trtspec.build.artifact import Artifact
from trtspec.errors import UsageError
from trtspec.methods import ChainMethod, Eagle, Eagle3, Medusa, Method
from trtspec.methods.trees import DYNAMIC, tree_shape
from trtspec.recipe.schema import Recipe
from trtspec.tune.rank_tree import Tree, comb

RANKS = 8
"""Below each node so many of the likeliest tokens are looked at."""
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
    :param no_twin: why it cannot be traced on backend reference; the artifact is then
        of its own backend. Empty: it can.
    """

    name: str
    artifact: Artifact
    method: Method
    lengths: tuple[int, ...]
    original: Recipe | None = None
    no_twin: str = ""

    @property
    def ranked(self) -> bool:
        """Whether one trace tells of every tree, and lengths are numbers of nodes."""
        return is_ranked(self.method)

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

    def method_of(self, length: int, tree: Tree | None = None) -> Method:
        """Give the method with one draft length, or with a tree."""
        if tree is not None:
            return with_tree_of(self.method, tree)
        return self.method_with(length)

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


def is_ranked(method: Method) -> bool:
    """Whether the method drafts a fixed tree, a node of which is a rank below another.

    What is drafted at a node depends on the path to it alone, so that the ranks of the
    answer's own tokens tell of every such tree.
    """
    if isinstance(method, Medusa):
        return True
    tree = getattr(method, "tree", None)
    return isinstance(method, Eagle | Eagle3) and tree not in (None, DYNAMIC)


def levels_of(method: Method) -> int:
    """Levels that trees may have: heads of Medusa, else the depth of the recipe's."""
    if isinstance(method, Medusa):
        return method.num_heads
    assert isinstance(method, Eagle | Eagle3)
    assert method.tree is not None, "it is ranked"
    return tree_shape(method.tree).depth


def with_tree_of(method: Method, tree: Tree) -> Method:
    """Give a method of ranks with another tree, and room for it."""
    values = {**tree_fields(method.method, tree), "tree": tree}
    if not isinstance(method, Eagle3):
        values["max_draft_tokens"] = max(len(tree), 1)
    return type(method).model_validate({**method.model_dump(), **values})


def tree_fields(method: str, tree: Tree) -> dict[str, object]:
    """Give the parameters that have to agree with a tree, beside room for its nodes."""
    shape = tree_shape(tree)
    if method == "eagle":
        inner = max(10, shape.most_inner_nodes)  # the default, or as many as it needs
        return {"num_layers": shape.depth, "max_non_leaves_per_layer": inner}
    return {"draft_length": shape.depth} if method == "eagle3" else {}


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
    if is_ranked(method):
        shown = with_tree_of(method, comb(RANKS, levels_of(method)))
        return Candidate(name, artifact, shown, SIZES)
    if can_cut(method):
        lengths = tuple(range(1, longest + 1))
        return Candidate(name, artifact, with_length(method, longest), lengths)
    return Candidate(name, artifact, method, (method.draft_length_at(1),))

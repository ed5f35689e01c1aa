"""Which nodes a draft tree has: a named tree, or its paths one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from trtspec.methods.draft_length import MAX_DRAFT_LENGTH
from trtspec.methods.faults import is_value, rule_error

Paths = tuple[tuple[int, ...], ...]
"""A node is the path to it from the root: at each level the rank of the token among
the drafter's likeliest."""

DEFAULT_TREE = "mc_sim_7b_63"
DYNAMIC = "dynamic"
"""In place of a tree: it grows by the drafter's confidence (EAGLE-2)."""

_MC_SIM_7B_63 = (
    "0 0.0 1 0.1 2 0.0.0 1.0 0.2 3 0.3 4 0.4 2.0 0.5 0.0.1 5 0.6 6 0.7 0.1.0 1.1 "
    "7 0.8 0.0.2 3.0 0.9 8 9 1.0.0 0.2.0 1.2 0.0.3 4.0 2.1 0.0.4 0.0.5 0.0.0.0 "
    "0.1.1 0.0.6 0.3.0 5.0 1.3 0.0.7 0.0.8 0.0.9 6.0 0.4.0 1.4 7.0 0.1.2 2.0.0 "
    "3.1 2.2 8.0 0.5.0 1.5 1.0.1 0.2.1 9.0 0.6.0 0.0.0.1 1.6 0.7.0"
)
NAMED_TREES: dict[str, Paths] = {
    # the tree that Medusa's authors found for a 7B model: 63 nodes, 4 levels
    # (medusa/model/medusa_choices.py), and the default of TensorRT-LLM's examples
    DEFAULT_TREE: tuple(
        tuple(map(int, path.split("."))) for path in _MC_SIM_7B_63.split()
    )
}


@dataclass(frozen=True, slots=True)
class TreeShape:
    """What limits depend on.

    :param most_inner_nodes: most nodes with children in one level below the root.
    """

    nodes: int
    depth: int
    most_inner_nodes: int


def tree_paths(tree: str | Paths) -> Paths:
    """Give the nodes of a named tree, or those that are given."""
    return NAMED_TREES[tree] if isinstance(tree, str) else tree


def tree_shape(tree: str | Paths) -> TreeShape:
    """Count the nodes, levels and inner nodes of a tree."""
    paths = tree_paths(tree)
    inner = {path[:-1] for path in paths if len(path) > 1}
    per_level = Counter(len(path) for path in inner)
    return TreeShape(
        len(paths), max(map(len, paths)), max(per_level.values(), default=0)
    )


def require_fit(
    shape: TreeShape,
    levels_key: str,
    levels: int,
    max_draft_tokens: int,
    given: Collection[str],
) -> None:
    """Refuse a tree that is deeper or larger than the drafter or the engine.

    :param levels_key: the key whose value ``levels`` is.
    :param given: the keys that the recipe has; the others are defaults.
    :raises PydanticCustomError: naming the key to change.
    """
    if shape.depth > levels and "tree" in given:
        raise rule_error(
            "tree",
            f"is {shape.depth} levels deep, but {levels_key} "
            f"{is_value(levels_key, levels, given)}",
            f"up to {levels} levels",
            f"choose a flatter tree, or raise {levels_key}",
        )
    if shape.depth > levels:
        raise rule_error(
            levels_key,
            f"is {levels}, but the default tree ({DEFAULT_TREE}) is {shape.depth} "
            "levels deep",
            f"{shape.depth} or more, or a tree of up to {levels} levels",
            f"write {levels_key}: {shape.depth}, or choose a flatter tree",
        )
    if shape.nodes > max_draft_tokens:
        size = is_value("max_draft_tokens", max_draft_tokens, given)
        raise rule_error(
            "max_draft_tokens",
            f"{size}, but the tree has {shape.nodes} nodes",
            f"{shape.nodes} or more, up to {MAX_DRAFT_LENGTH}",
            f"write max_draft_tokens: {shape.nodes}, or choose a smaller tree",
        )

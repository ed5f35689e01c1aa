"""Which parameters of a chain method's draft tree fit one another."""

from __future__ import annotations

from collections.abc import Mapping

from trtspec.methods.draft_length import MAX_DRAFT_LENGTH, longest_draft
from trtspec.methods.faults import rule_error
from trtspec.methods.trees import DYNAMIC, Paths, tree_shape


def require_dynamic_tree(
    tree: object,
    top_k: int | None,
    tokens: int | None,
    draft_length: int | Mapping[int, int],
) -> None:
    """Refuse the parameters of a dynamic tree that do not fit one another.

    TensorRT-LLM asks for depth <= tokens <= top-k * depth
    (tensorrt_llm/llmapi/llm_args.py).

    :raises PydanticCustomError: naming the key to change.
    """
    if tree != DYNAMIC:
        for key, value in {"tree_top_k": top_k, "tree_tokens": tokens}.items():
            if value is not None:
                raise rule_error(
                    key,
                    "has no effect: tree is not dynamic",
                    f"{key} only together with tree: dynamic",
                    f"delete {key}, or write tree: dynamic",
                )
        return
    if top_k is None:
        raise rule_error(
            "tree",
            "is dynamic, and tree_top_k is not given",
            "tree: dynamic together with tree_top_k",
            "add tree_top_k, the children that a node is given",
        )
    if not isinstance(draft_length, int):
        raise rule_error(
            "draft_length",
            "is a map, and a dynamic tree has one depth",
            "one number, the depth of the tree",
            f"write draft_length: {longest_draft(draft_length)}",
        )
    most = top_k * draft_length
    if tokens is None and most > MAX_DRAFT_LENGTH:
        raise rule_error(
            "tree_top_k",
            f"gives a tree of {most} nodes with depth {draft_length}",
            f"up to {MAX_DRAFT_LENGTH} nodes",
            "add tree_tokens, the nodes that are verified, or lower tree_top_k",
        )
    if tokens is not None and not draft_length <= tokens <= most:
        raise rule_error(
            "tree_tokens",
            f"is {tokens}, with depth {draft_length} and {top_k} children per node",
            f"from {draft_length} (a chain) to {most} (all that is drafted)",
        )


def require_fixed_tree(
    tree: str | Paths, draft_length: int | Mapping[int, int]
) -> None:
    """Refuse a fixed tree that is deeper than the draft length, or has several.

    :raises PydanticCustomError: naming the key to change.
    """
    depth = tree_shape(tree).depth
    if not isinstance(draft_length, int):
        raise rule_error(
            "draft_length",
            "is a map, and a fixed tree has one depth",
            "one number, the depth of the tree or more",
            f"write draft_length: {depth}",
        )
    if depth > draft_length:
        raise rule_error(
            "tree",
            f"is {depth} levels deep, but draft_length is {draft_length}",
            f"up to {draft_length} levels",
            "choose a flatter tree, or raise draft_length",
        )

"""How drafts grow where ``draft_length`` is their depth: a chain, or a tree."""

from __future__ import annotations

from trtspec.methods import Eagle3, Method, Mtp, tree_paths
from trtspec.methods.draft_length import longest_draft
from trtspec.methods.trees import DYNAMIC
from trtspec.reference.growth.base import Plan
from trtspec.reference.growth.dynamic import DynamicPlan
from trtspec.reference.growth.static import ChainPlan, StaticPlan


def by_draft_length(method: Method) -> Plan:
    """Give the plan that the method's parameters ask for."""
    assert isinstance(method, (Eagle3, Mtp))
    levels = longest_draft(method.draft_length)
    if method.tree is None:
        return ChainPlan(levels)
    if method.tree != DYNAMIC:
        return StaticPlan.of(tree_paths(method.tree))
    assert method.tree_top_k is not None, "validated"
    return DynamicPlan(
        children=method.tree_top_k,
        expanded=method.tree_top_k,
        levels=levels,
        budget=method.longest_draft,
    )

"""``method: eagle``: EAGLE-1's fixed trees and EAGLE-2's dynamic ones."""

from __future__ import annotations

from pathlib import Path

from trtspec.methods import Method
from trtspec.methods.eagle import Eagle
from trtspec.methods.trees import tree_paths
from trtspec.reference.capture import FINAL
from trtspec.reference.drafters.grown import GrowingDrafter
from trtspec.reference.drafters.setup import DrafterSetup
from trtspec.reference.growth import DynamicPlan, Plan, StaticPlan, room_for
from trtspec.reference.heads.eagle import load_eagle


def plan_for(method: Method) -> Plan:
    """Say how trees grow by the method's parameters."""
    assert isinstance(method, Eagle)
    if method.dynamic_top_k is None:
        return StaticPlan.of(tree_paths(method.tree))
    expanded = min(method.dynamic_top_k, method.max_non_leaves_per_layer)
    return DynamicPlan(
        children=method.dynamic_top_k,
        expanded=expanded,
        levels=method.num_layers,
        budget=method.longest_draft,
    )


def open_drafter(
    method: Method, directory: Path | None, setup: DrafterSetup
) -> GrowingDrafter:
    """Load the artifact's head.

    :raises RunError: if it was not made for this target.
    """
    assert directory is not None, "an eagle artifact holds a head"
    head = load_eagle(directory, setup)
    return GrowingDrafter(
        setup.slots_for(head, 1 + room_for(plan_for(method), method)),
        (FINAL,),
        method,
        plan_for,
        fuse=head.fuse,
        known_tokens=head.known_tokens,
    )

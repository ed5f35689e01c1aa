"""A method's parameters say whether a chain grows, a fixed tree or a dynamic one."""

from __future__ import annotations

import pytest

from trtspec.methods import Eagle3, Mtp
from trtspec.reference.growth import (
    ChainPlan,
    DynamicPlan,
    StaticPlan,
    by_draft_length,
    room_for,
)

DYNAMIC = {"tree": "dynamic", "tree_top_k": 3}
GROWS_7 = DynamicPlan(children=3, expanded=3, levels=4, budget=7)


def eagle3(**parameters) -> Eagle3:
    return Eagle3(method="eagle3", model="./head", **{"draft_length": 4, **parameters})


@pytest.mark.parametrize(
    ("method", "plan"),
    [
        (eagle3(), ChainPlan(4)),
        (eagle3(draft_length={2: 5, 8: 3}), ChainPlan(5)),
        (eagle3(tree=((0,), (1,), (0, 0))), StaticPlan({(): (0, 1), (0,): (0,)})),
        (eagle3(**DYNAMIC, tree_tokens=7), GROWS_7),
        (eagle3(**DYNAMIC), DynamicPlan(3, 3, 4, budget=12)),
        (Mtp(method="mtp", draft_length=2), ChainPlan(2)),
        (Mtp(method="mtp", draft_length=4, **DYNAMIC, tree_tokens=7), GROWS_7),
    ],
)
def test_plan_follows_the_parameters(method, plan):
    assert by_draft_length(method) == plan


def test_a_drafter_has_room_for_requests_with_trees_of_their_own():
    """As large as the method's: a chain has as many nodes to read."""
    method = eagle3(**DYNAMIC, tree_tokens=12)
    assert room_for(by_draft_length(method), method) == 11
    assert room_for(by_draft_length(eagle3()), eagle3()) == 3

"""Trees of chain methods: which parameters fit, and how many nodes are verified."""

import pytest

from tests.methods.samples import made, refusal

DYNAMIC = {"tree": "dynamic", "tree_top_k": 3, "draft_length": 4}


@pytest.mark.parametrize("method", ["eagle3", "mtp"])
@pytest.mark.parametrize(("tokens", "nodes"), [(None, 12), (4, 4), (7, 7), (12, 12)])
def test_tree_verifies_its_nodes(method, tokens, nodes):
    tree = made(method, **DYNAMIC, tree_tokens=tokens)
    assert tree.longest_draft == nodes
    assert tree.verified_tokens == nodes + 1


def test_fixed_tree_verifies_its_paths():
    assert made("eagle3", tree=[[0], [1], [0, 0]]).longest_draft == 3


def test_chain_verifies_its_length():
    assert made("eagle3", draft_length={8: 4, 32: 2}).longest_draft == 4
    assert made("mtp", draft_length=3).longest_draft == 3


@pytest.mark.parametrize("method", ["eagle3", "mtp"])
@pytest.mark.parametrize(
    ("keys", "place", "what"),
    [
        ({"tree_top_k": 3}, "tree_top_k", "has no effect: tree is not dynamic"),
        ({"tree_tokens": 3}, "tree_tokens", "has no effect: tree is not dynamic"),
        ({"tree": "dynamic"}, "tree", "is dynamic, and tree_top_k is not given"),
        (DYNAMIC | {"tree_tokens": 3}, "tree_tokens", "is 3, with depth 4 and 3"),
        (DYNAMIC | {"tree_tokens": 13}, "tree_tokens", "is 13, with depth 4 and 3"),
        (DYNAMIC | {"draft_length": {8: 4}}, "draft_length", "is a map, and a dynamic"),
        (DYNAMIC | {"tree_top_k": 65}, "tree_top_k", "gives a tree of 260 nodes"),
    ],
)
def test_parameters_that_do_not_fit(method, keys, place, what):
    rule = refusal(method, **keys)
    assert rule["place"] == (place,)
    assert rule["what"].startswith(what)
    assert rule["allowed"]


def test_large_tree_may_be_cut():
    cut = DYNAMIC | {"tree_top_k": 65, "tree_tokens": 60}
    assert made("eagle3", **cut).longest_draft == 60


def test_fixed_tree_is_at_most_as_deep_as_the_draft_length():
    assert made("eagle3", tree=[[0], [0, 0]], draft_length=2).longest_draft == 2
    assert refusal("eagle3", tree=[[0], [0, 0]], draft_length=1) == {
        "place": ("tree",),
        "what": "is 2 levels deep, but draft_length is 1",
        "allowed": "up to 1 levels",
        "action": "choose a flatter tree, or raise draft_length",
    }


def test_fixed_tree_has_no_schedule():
    rule = refusal("eagle3", tree=[[0], [0, 0]], draft_length={8: 4})
    assert rule["place"] == ("draft_length",)
    assert rule["what"] == "is a map, and a fixed tree has one depth"
    assert rule["action"] == "write draft_length: 2"

"""Medusa: how many nodes it drafts, and which trees its heads can fill."""

import pytest
from hypothesis import given

from tests.methods.samples import made, refusal, trees

FIVE_LEVELS = [[0] * level for level in range(1, 6)]


def test_default_is_the_tree_of_its_authors():
    method = made("medusa")
    assert (method.num_heads, method.num_layers, method.max_draft_tokens) == (4, 1, 63)
    assert method.longest_draft == 63
    assert method.verified_tokens == 64


@given(tree=trees())
def test_longest_draft_is_the_number_of_nodes(tree):
    method = made("medusa", tree=tree, num_heads=6)
    assert method.longest_draft == len(tree) == method.shape.nodes


def test_longest_draft_is_not_the_room_of_the_engine():
    assert made("medusa", tree=[[0], [1]], max_draft_tokens=200).longest_draft == 2


@pytest.mark.parametrize(
    ("given_heads", "by_default"), [({"num_heads": 4}, ""), ({}, " by default")]
)
def test_tree_deeper_than_the_heads_is_refused(given_heads, by_default):
    assert refusal("medusa", tree=FIVE_LEVELS, **given_heads) == {
        "place": ("tree",),
        "what": f"is 5 levels deep, but num_heads is 4{by_default}",
        "allowed": "up to 4 levels",
        "action": "choose a flatter tree, or raise num_heads",
    }


def test_too_few_heads_for_the_default_tree_are_what_is_refused():
    assert refusal("medusa", num_heads=3) == {
        "place": ("num_heads",),
        "what": "is 3, but the default tree (mc_sim_7b_63) is 4 levels deep",
        "allowed": "4 or more, or a tree of up to 3 levels",
        "action": "write num_heads: 4, or choose a flatter tree",
    }


def test_more_nodes_than_the_engine_has_room_for_are_refused():
    assert refusal("medusa", max_draft_tokens=62) == {
        "place": ("max_draft_tokens",),
        "what": "is 62, but the tree has 63 nodes",
        "allowed": "63 or more, up to 256",
        "action": "write max_draft_tokens: 63, or choose a smaller tree",
    }
    wide = [[rank] for rank in range(64)]
    rule = refusal("medusa", tree=wide)
    assert rule["what"] == "is 63 by default, but the tree has 64 nodes"
    assert made("medusa", tree=wide, max_draft_tokens=64).longest_draft == 64


def test_tree_as_deep_as_the_heads_is_accepted():
    assert made("medusa", tree=FIVE_LEVELS, num_heads=5).shape.depth == 5

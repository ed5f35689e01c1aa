"""EAGLE: nodes of fixed and dynamic trees, and which keys go together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.methods.samples import made, refusal, trees

TWO_LEVELS = [[0], [0, 0], [1]]


def test_default_is_eagle_1_with_a_fixed_tree():
    method = made("eagle")
    assert not method.is_dynamic
    assert method.acceptance == "exact"
    assert method.longest_draft == 63


@given(tree=trees())
def test_longest_draft_of_a_fixed_tree_is_the_number_of_nodes(tree):
    levels = max(map(len, tree))
    method = made("eagle", tree=tree, num_layers=levels, max_non_leaves_per_layer=20)
    assert method.longest_draft == len(tree)


@pytest.mark.parametrize(
    ("top_k", "levels", "room", "nodes"),
    [
        # 10 + 10 * 10 * 3 = 310, cut
        (10, 4, 63, 63),
        (10, 4, 256, 256),
        # 3 + 3 * 3 * 2
        (3, 3, 63, 21),
        # only the first level
        (7, 1, 63, 7),
        (1, 5, 63, 5),
    ],
)
def test_longest_draft_of_a_dynamic_tree(top_k, levels, room, nodes):
    method = made(
        "eagle",
        tree="dynamic",
        dynamic_top_k=top_k,
        num_layers=levels,
        max_draft_tokens=room,
    )
    assert method.is_dynamic
    assert method.longest_draft == nodes


@given(st.integers(1, 256), st.integers(1, 256), st.integers(1, 256))
def test_dynamic_tree_never_outgrows_the_engine(top_k, levels, room):
    sizes = {"dynamic_top_k": top_k, "num_layers": levels, "max_draft_tokens": room}
    method = made("eagle", tree="dynamic", **sizes)
    assert method.longest_draft == min(room, top_k + top_k * top_k * (levels - 1))


@pytest.mark.parametrize(
    ("fields", "is_levels"),
    [
        ({"tree": TWO_LEVELS}, "is 4 by default"),
        ({"tree": TWO_LEVELS, "num_layers": 3}, "is 3"),
    ],
)
def test_fixed_tree_is_exactly_as_deep_as_the_layers(fields, is_levels):
    assert refusal("eagle", **fields) == {
        "place": ("num_layers",),
        "what": f"{is_levels}, but the tree is 2 levels deep",
        "allowed": "num_layers equal to the depth of the tree",
        "action": "write num_layers: 2",
    }


def test_fixed_tree_deeper_than_the_layers_is_refused():
    rule = refusal("eagle", tree=TWO_LEVELS, num_layers=1)
    assert rule["place"] == ("tree",)
    assert rule["what"] == "is 2 levels deep, but num_layers is 1"


def test_inner_nodes_of_a_level_are_bounded():
    assert refusal("eagle", max_non_leaves_per_layer=9) == {
        "place": ("max_non_leaves_per_layer",),
        "what": "is 9, but a level of the tree has 10 nodes with children",
        "allowed": "10 or more, or a tree with fewer",
        "action": "write max_non_leaves_per_layer: 10",
    }
    wide = [[rank] for rank in range(11)] + [[rank, 0] for rank in range(11)]
    rule = refusal("eagle", tree=wide, num_layers=2)
    assert rule["what"].startswith("is 10 by default, but a level of the tree has 11")


def test_more_nodes_than_the_engine_has_room_for_are_refused():
    assert refusal("eagle", max_draft_tokens=62)["place"] == ("max_draft_tokens",)


def test_limits_of_a_fixed_tree_do_not_bind_a_dynamic_one():
    sizes = {"max_draft_tokens": 5, "num_layers": 2, "max_non_leaves_per_layer": 1}
    method = made("eagle", tree="dynamic", dynamic_top_k=9, **sizes)
    assert method.longest_draft == 5

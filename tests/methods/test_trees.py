"""Draft trees: the named one, shapes, and which lists of paths are trees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from tests.methods.samples import trees
from trtspec.methods import MAX_DRAFT_LENGTH, tree_paths
from trtspec.methods.tree_field import (
    ALLOWED_PATH,
    ALLOWED_PATHS,
    ALLOWED_RANK,
    DynamicTree,
    Tree,
)
from trtspec.methods.trees import DEFAULT_TREE, TreeShape, tree_shape

ADAPTER = TypeAdapter(Tree)
DYNAMIC_ADAPTER = TypeAdapter(DynamicTree)
NAMES = f"mc_sim_7b_63, or {ALLOWED_PATHS}"


def refusal(value, adapter=ADAPTER):
    with pytest.raises(ValidationError) as caught:
        adapter.validate_python(value)
    (error,) = caught.value.errors()
    assert error["type"] == "recipe_rule"
    return error["ctx"]


def test_default_tree_has_63_nodes_4_levels_and_10_inner_nodes_in_one_level():
    assert tree_shape(DEFAULT_TREE) == TreeShape(63, 4, 10)


def test_default_tree_lists_every_node_once_with_its_parent():
    paths = tree_paths(DEFAULT_TREE)
    assert len(set(paths)) == len(paths)
    assert {path[:-1] for path in paths} <= {(), *paths}


def test_default_tree_has_the_levels_of_medusas_authors():
    paths = tree_paths(DEFAULT_TREE)
    per_level = [sum(len(path) == level for path in paths) for level in (1, 2, 3, 4)]
    assert per_level == [10, 28, 23, 2]
    assert (0, 0, 0, 1) in paths


@pytest.mark.parametrize(
    ("tree", "shape"),
    [
        ([[0]], TreeShape(1, 1, 0)),
        ([[0], [1], [2]], TreeShape(3, 1, 0)),
        ([[0], [0, 0], [0, 0, 0]], TreeShape(3, 3, 1)),
        ([[0], [1], [0, 0], [1, 0], [1, 0, 0]], TreeShape(5, 3, 2)),
    ],
)
def test_shape_of_a_tree(tree, shape):
    assert tree_shape(ADAPTER.validate_python(tree)) == shape


@given(tree=trees())
def test_any_paths_with_their_parents_are_a_tree(tree):
    paths = ADAPTER.validate_python(tree)
    assert paths == tuple(map(tuple, tree))
    assert tree_paths(paths) == paths
    assert ADAPTER.validate_json(ADAPTER.dump_json(paths)) == paths


@given(tree=trees())
def test_shape_counts_what_a_walk_over_the_levels_finds(tree):
    shape = tree_shape(ADAPTER.validate_python(tree))
    level, inner = {()}, []
    while level:
        inner.append(sum(any(p[:-1] == list(n) for p in tree) for n in level))
        level = {tuple(p) for p in tree if tuple(p[:-1]) in level}
    assert shape.depth == len(inner) - 1
    assert shape.nodes == len(tree)
    assert shape.most_inner_nodes == max(inner[1:])


@given(tree=trees(), data=st.data())
def test_tree_without_one_of_its_inner_nodes_is_refused(tree, data):
    parents = [path for path in tree if any(p[:-1] == path for p in tree)]
    if not parents:
        return
    missing = data.draw(st.sampled_from(parents))
    rest = [path for path in tree if path != missing]
    rule = refusal(rest)
    (place,) = rule["place"]
    assert rest[place][:-1] == missing
    assert (
        rule["what"] == f"is {rest[place]}, but its parent {missing} is not in the list"
    )
    assert rule["allowed"] == ALLOWED_PATHS
    assert rule["action"] == f"add {missing}, or delete the path"


@pytest.mark.parametrize(
    ("value", "place", "what", "allowed", "action"),
    [
        (None, (), "which is no tree", NAMES, ""),
        (3, (), "which is no tree", NAMES, ""),
        (True, (), "which is no tree", NAMES, ""),
        ({"a": 1}, (), "which is no tree", NAMES, ""),
        ([], (), "which has no nodes", NAMES, ""),
        ("mc_sim", (), "which is not known", NAMES, "write tree: mc_sim_7b_63"),
        ("dynamic", (), "which is not known", NAMES, ""),
        ("[[0]]", (), "which is not known", NAMES, "write the list without quotes"),
        ([0, 1], (0,), "which is no path", ALLOWED_PATH, ""),
        ([[0], "1"], (1,), "which is no path", ALLOWED_PATH, ""),
        ([[0], []], (1,), "which is no path", ALLOWED_PATH, ""),
        ([[0], [0, -1]], (1, 1), "which is no rank", ALLOWED_RANK, ""),
        ([[MAX_DRAFT_LENGTH]], (0, 0), "which is no rank", ALLOWED_RANK, ""),
        ([["0"]], (0, 0), "which is no rank", ALLOWED_RANK, ""),
        ([[0.0]], (0, 0), "which is no rank", ALLOWED_RANK, ""),
        ([[True]], (0, 0), "which is no rank", ALLOWED_RANK, ""),
        (
            [[0], [1], [0]],
            (2,),
            "is [0], which the list has already",
            "each path once",
            "delete it",
        ),
        (
            [[0] * level for level in range(2, 15)],
            (0,),
            "is [0, 0], but its parent [0] is not in the list",
            ALLOWED_PATHS,
            "add [0], or delete the path",
        ),
        (
            [[rank] for rank in range(256)] + [[0, 0]],
            (),
            "has 257 nodes",
            "up to 256 nodes",
            "delete the others",
        ),
    ],
)
def test_what_is_no_tree_is_refused_with_its_place(value, place, what, allowed, action):
    assert refusal(value) == {
        "place": place,
        "what": what,
        "allowed": allowed,
        "action": action,
    }


def test_long_paths_are_shortened_in_messages():
    what = refusal([[7] * 14])["what"]
    sevens = ", ".join(["7"] * 12)
    assert what == (
        f"is [{sevens}, ...], but its parent [{sevens}, ...] is not in the list"
    )


def test_dynamic_is_a_tree_only_where_a_method_grows_one():
    assert DYNAMIC_ADAPTER.validate_python("dynamic") == "dynamic"
    rule = refusal("dynamc", DYNAMIC_ADAPTER)
    assert rule["action"] == "write tree: dynamic"
    assert rule["allowed"].startswith("mc_sim_7b_63, dynamic, or a list")


def test_largest_tree_is_accepted():
    tree = [[rank] for rank in range(MAX_DRAFT_LENGTH)]
    assert tree_shape(ADAPTER.validate_python(tree)).nodes == MAX_DRAFT_LENGTH

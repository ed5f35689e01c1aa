"""A tree that the engine has no room for is refused, with both values."""

from __future__ import annotations

import pytest
from packaging.version import Version

from tests.trtllm.engine.run.artifacts import engine, recipe
from trtspec.errors import RunError
from trtspec.trtllm.engine.run.gate_trees import require_dynamic_tree, require_shape

WIDE = [[0], [1], [2], [0, 0], [1, 0], [2, 0]]


def method(name, **options):
    return recipe(name, **options).speculation


def eagle_engine(layers=2, most=10):
    extras = {"num_eagle_layers": layers, "max_non_leaves_per_layer": most}
    return engine("eagle", extras=extras)


def test_a_tree_deeper_than_the_heads_is_refused():
    config = engine("medusa", extras={"num_medusa_heads": 1})
    with pytest.raises(RunError, match=r"2 levels deep.*num_medusa_heads 1"):
        require_shape(config, method("medusa"), "target")
    require_shape(engine("medusa"), method("medusa"), "target")


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("tree", [{}, {"tree": "dynamic", "dynamic_top_k": 3}])
def test_levels_of_eagle_must_equal_the_engines(layers, tree):
    with pytest.raises(RunError, match=f"drafts 2 levels.*num_eagle_layers {layers}"):
        require_shape(eagle_engine(layers), method("eagle", **tree), "target")
    require_shape(eagle_engine(), method("eagle", **tree), "target")


def test_too_many_inner_nodes_in_a_level_are_refused():
    wide = method("eagle", tree=WIDE)
    with pytest.raises(RunError, match=r"3 nodes with.*max_non_leaves_per_layer 2"):
        require_shape(eagle_engine(most=2), wide, "target")
    require_shape(eagle_engine(most=3), wide, "target")


def test_a_method_without_a_tree_has_none_to_refuse():
    require_shape(engine("ngram"), method("ngram"), "target")


def test_a_growing_tree_needs_a_version_that_knows_it():
    dynamic = method("eagle", tree="dynamic", dynamic_top_k=3)
    require_dynamic_tree(dynamic, Version("1.2.1"))
    require_dynamic_tree(method("eagle"), Version("0.17.0"))
    with pytest.raises(RunError, match=r"dynamic is not known.*0.17.0"):
        require_dynamic_tree(dynamic, Version("0.17.0"))


@pytest.mark.parametrize(
    ("own", "key"),
    [
        ({"num_beams": 3, "draft_length_per_beam": 2}, "redrafter_num_beams 3"),
        ({"draft_length_per_beam": 2}, "redrafter_draft_len_per_beam 2"),
        ({"greedy_search": False}, "redrafter_greedy_search False"),
    ],
)
def test_other_beams_than_the_engines_are_refused(own, key):
    require_shape(engine("redrafter"), method("redrafter"), "target")
    with pytest.raises(RunError, match=f"wants {key}, and the engine was built with"):
        require_shape(engine("redrafter"), method("redrafter", **own), "target")

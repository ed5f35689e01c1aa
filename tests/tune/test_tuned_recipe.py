"""The tuned recipe says of a tree all that has to agree with it, and stays valid."""

from __future__ import annotations

import pytest
import yaml

from tests.tune.made_result import candidate, result
from trtspec.recipe import Recipe
from trtspec.tune.tuned_recipe import Source, tuned_text

DEEP = ((0,), (1,), (0, 0), (0, 0, 0))
WIDE = tuple((rank,) for rank in range(8))


def source(folder, **speculation) -> Source:
    document = {
        "schema": "trtspec/v1",
        "name": "toy",
        "target": {"model": "./target"},
        "speculation": {"model": "./head", **speculation},
        "workload": {"prompts": "prompts.jsonl"},
    }
    path = folder / "toy.yaml"
    return Source(yaml.safe_dump(document, sort_keys=False), path, path)


def written(of: Source, tree):
    """The recipe with a tree, read back and checked."""
    method = yaml.safe_load(of.text)["speculation"]["method"]
    best = candidate(
        method,
        cut_anywhere=False,
        draft_length=len(tree),
        tree=tree,
        speculation={"method": method},
    )
    text = tuned_text(of, result(best), of.path.parent)
    recipe = Recipe.model_validate(yaml.safe_load(text))
    return recipe.speculation, yaml.safe_load(text)["speculation"]


@pytest.mark.parametrize("tree", [DEEP, WIDE])
def test_an_eagle_recipe_gets_the_depth_of_its_tree(tmp_path, tree):
    of = source(tmp_path, method="eagle", tree=[[0], [0, 0]], num_layers=2)
    method, said = written(of, tree)
    assert method.tree == tree
    assert said["num_layers"] == method.shape.depth
    assert "max_draft_tokens" not in said


def test_an_eagle3_recipe_gets_it_as_its_draft_length(tmp_path):
    of = source(tmp_path, method="eagle3", tree=[[0], [0, 0]], draft_length=2)
    method, said = written(of, DEEP)
    assert method.tree == DEEP
    assert said["draft_length"] == 3


@pytest.mark.parametrize("method", ["eagle", "medusa"])
def test_room_is_made_only_where_it_is_too_small(tmp_path, method):
    levels = {"num_layers": 1} if method == "eagle" else {}
    own = {"method": method, "tree": [[0]], "max_draft_tokens": 5, **levels}
    assert written(source(tmp_path, **own), DEEP)[1]["max_draft_tokens"] == 5
    assert written(source(tmp_path, **own), WIDE)[1]["max_draft_tokens"] == 8


def test_nodes_with_children_fit_in_an_eagle_engine(tmp_path):
    tree = ((0,), (1,), (2,), (0, 0), (1, 0), (2, 0))
    own = {"method": "eagle", "tree": [[0]], "num_layers": 1}
    tight = source(tmp_path, **own, max_non_leaves_per_layer=2)
    assert written(tight, tree)[1]["max_non_leaves_per_layer"] >= 3
    assert "max_non_leaves_per_layer" not in written(source(tmp_path, **own), tree)[1]


def test_a_tree_without_levels_to_name_is_written_alone(tmp_path):
    of = source(tmp_path, method="medusa", tree=[[0]])
    _, said = written(of, DEEP)
    assert set(said) == {"model", "method", "tree"}

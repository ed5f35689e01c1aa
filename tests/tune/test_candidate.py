"""Which draft lengths of a method can be told from one trace."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from trtspec.errors import UsageError
from trtspec.methods import tree_paths
from trtspec.recipe import Recipe
from trtspec.tune.candidate import RANKS, SIZES, candidate_of


@dataclass(frozen=True)
class Built:
    """As much of an artifact as a candidate looks at."""

    recipe: Recipe
    name: str = "toy"


def built(**speculation) -> Built:
    document = {
        "schema": "trtspec/v1",
        "name": "toy",
        "target": {"model": "./target"},
        "speculation": speculation,
    }
    return Built(Recipe.model_validate(document))


def test_a_chain_tells_of_every_length_up_to_the_longest():
    found = candidate_of(built(method="ngram", draft_length={2: 3}), "ngram", 5)
    assert found.lengths == (1, 2, 3, 4, 5)
    assert found.method.draft_length == 5
    assert found.cut_anywhere
    assert found.method_with({1: 4}).draft_length == {1: 4}
    assert found.traced_artifact().recipe.speculation == found.method


@pytest.mark.parametrize(
    "speculation",
    [
        {"method": "eagle3", "model": "./h", "draft_length": 3, "tree": "dynamic",
         "tree_top_k": 2},
        {"method": "dflash", "model": "./h", "draft_length": 3},
        {"method": "user", "drafter": "a:b", "draft_length": 3},
        {"method": "lookahead", "window_size": 3, "ngram_size": 3,
         "verification_set_size": 3},
    ],
    ids=lambda s: s["method"],
)  # fmt: skip
def test_what_cannot_be_cut_is_looked_at_as_it_is(speculation):
    artifact = built(**speculation)
    found = candidate_of(artifact, "x", 5)
    assert not found.cut_anywhere
    assert not found.ranked
    assert len(found.lengths) == 1
    assert found.method == artifact.recipe.speculation
    assert found.method_with(7) == found.method


def test_of_medusa_heads_every_tree_is_told():
    heads = built(method="medusa", model="./h", num_heads=3, tree=[[0]])
    found = candidate_of(heads, "medusa")
    assert found.ranked
    assert found.lengths == SIZES
    paths = tree_paths(found.method.tree)
    assert len(paths) == 3 * RANKS
    assert max(map(len, paths)) == 3


@pytest.mark.parametrize(
    ("speculation", "depth"),
    [
        ({"method": "eagle", "tree": [[0], [1], [0, 0]], "num_layers": 2}, 2),
        ({"method": "eagle"}, 4),
        ({"method": "eagle3", "tree": [[0], [0, 0]], "draft_length": 3}, 2),
    ],
    ids=["eagle", "eagle's default", "eagle3"],
)
def test_of_a_fixed_tree_every_other_is_told_no_deeper(speculation, depth):
    found = candidate_of(built(model="./h", **speculation), "x")
    assert found.ranked
    assert not found.cut_anywhere
    assert found.lengths == SIZES
    paths = tree_paths(found.method.tree)
    assert len(paths) == depth * RANKS
    assert max(map(len, paths)) == depth


TREES = [((0,),), ((0,), (0, 0)), ((0,), (1,), (2,), (0, 0), (1, 0), (0, 0, 0))]


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize(
    "speculation",
    [
        {"method": "medusa"},
        {"method": "eagle"},
        {"method": "eagle3", "tree": [[0]], "draft_length": 1},
    ],
    ids=lambda s: s["method"],
)
def test_a_method_is_given_another_tree_with_all_that_belongs_to_it(speculation, tree):
    before = candidate_of(built(model="./h", **speculation), "x")
    method = before.method_of(len(tree), tree)
    assert tree_paths(method.tree) == tree
    assert method.longest_draft == len(tree)


def test_trees_that_grow_by_confidence_are_not_told():
    grown = {"tree": "dynamic", "dynamic_top_k": 3}
    found = candidate_of(built(method="eagle", model="./h", **grown), "x")
    assert not found.ranked
    assert found.lengths == (found.method.draft_length_at(1),)


def test_an_original_of_another_backend_is_kept_for_its_price():
    found = candidate_of(built(method="ngram", draft_length=3), "ngram")
    assert found.as_deployed().artifact.recipe == found.artifact.recipe


@pytest.mark.parametrize(
    ("speculation", "said"),
    [
        ({"method": "none"}, "nothing to tune"),
        (
            {
                "method": "medusa",
                "model": "./h",
                "acceptance": "typical",
                "posterior_threshold": 0.1,
            },
            "acceptance typical is lossy",
        ),
    ],
)
def test_what_has_no_length_to_choose_is_refused(speculation, said):
    with pytest.raises(UsageError, match=said):
        candidate_of(built(**speculation), "x")

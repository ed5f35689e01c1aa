"""MTP: heads of the target, or from a checkpoint of their own."""

import pytest

from tests.methods.samples import made, refusal


def test_heads_are_the_targets_own_by_default():
    method = made("mtp")
    assert method.draft_model is None
    assert {entry.backend for entry in method.exactness()} == {"reference", "pytorch"}


@pytest.mark.parametrize("keys", [{}, {"tree": "dynamic", "tree_top_k": 2}])
def test_heads_of_their_own_are_for_the_reference_engine_only(keys):
    (entry,) = made("mtp", model="d", **keys).exactness()
    assert entry.backend == "reference"
    assert not entry.greedy
    assert not entry.sampled


def test_revision_without_a_model_is_refused():
    assert refusal("mtp", revision="main") == {
        "place": ("revision",),
        "what": "has no effect: model is not given",
        "allowed": "revision only together with model",
        "action": "delete revision, or add model",
    }


@pytest.mark.parametrize("key", ["relaxed_top_k", "relaxed_delta"])
def test_relaxed_acceptance_needs_both_of_its_bounds(key):
    both = {"relaxed_top_k": 8, "relaxed_delta": 0.5}
    rest = {name: value for name, value in both.items() if name != key}
    rule = refusal("mtp", acceptance="relaxed", **rest)
    assert rule["place"] == ("acceptance",)
    assert rule["what"] == f"is relaxed, and {key} is not given"


def test_tree_over_one_head_per_position_is_not_for_the_reference_engine():
    tree = {"tree": "dynamic", "tree_top_k": 2, "vanilla": True}
    assert {entry.backend for entry in made("mtp", **tree).exactness()} == {"pytorch"}
    rule = refusal("mtp", model="d", **tree)
    assert rule["place"] == ("tree",)
    assert rule["what"] == "is dynamic, and vanilla is true"

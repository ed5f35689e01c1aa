"""Which artifact and which request stand for a draft length, by backend and method."""

from __future__ import annotations

import pytest

from tests.methods.samples import SMALLEST
from trtspec.recipe import Recipe
from trtspec.tune.deployed.setting import Settings, without_drafts


def recipe(backend, method="ngram", **parts) -> Recipe:
    return Recipe.model_validate(
        {
            "schema": "trtspec/v1",
            "name": "toy",
            "backend": backend,
            "target": {"model": "./target"},
            "speculation": SMALLEST[method],
            "tuned": None,
            **parts,
        }
    )


def settings(backend, method="ngram", **parts) -> Settings:
    of = recipe(backend, method, **parts)
    longest = of.speculation
    if method in ("ngram", "draft_target", "eagle3"):
        values = longest.model_dump() | {"draft_length": 6}
        longest = type(longest).model_validate(values)
    return Settings(of, longest)


@pytest.mark.parametrize("method", ["ngram", "draft_target"])
def test_drafts_from_outside_an_engine_go_by_request(method):
    found = settings("tensorrt", method)
    shorter = found.longest.model_copy(update={"draft_length": 2})
    assert found.by_request
    assert found.drafting(shorter).own == shorter
    assert found.drafting(shorter).recipe == found.drafting(found.longest).recipe
    assert found.plain.recipe == found.drafting(shorter).recipe
    assert not found.plain.speculate
    assert found.plain.recipe.speculation.draft_length == 6


@pytest.mark.parametrize("method", ["medusa", "eagle", "redrafter"])
def test_engines_that_always_draft_have_an_off_arm_of_their_own(method):
    found = settings("tensorrt", method)
    assert not found.by_request
    assert found.plain.recipe.speculation.method == "none"
    assert found.plain.speculate
    drafting = found.drafting(found.longest)
    assert drafting.own is None
    assert drafting.recipe.speculation == found.longest


def test_a_lookahead_engine_is_off_by_request():
    found = settings("tensorrt", "lookahead")
    assert found.plain.recipe.speculation.method == "lookahead"
    assert not found.plain.speculate


@pytest.mark.parametrize("method", ["ngram", "eagle3"])
def test_backend_pytorch_has_an_artifact_per_length(method):
    found = settings("pytorch", method)
    two, three = (
        found.drafting(found.longest.model_copy(update={"draft_length": n}))
        for n in (2, 3)
    )
    assert two.recipe != three.recipe
    assert two.own is None
    assert found.plain.recipe.speculation.method == "none"


def test_an_off_arm_keeps_all_that_has_nothing_to_do_with_drafting():
    engine = {"max_draft_length": 8, "max_num_tokens": 512}
    off = without_drafts(recipe("tensorrt", engine=engine))
    assert off.engine.max_draft_length is None
    assert off.engine.max_num_tokens == 512
    assert off.limits == recipe("tensorrt").limits


@pytest.mark.parametrize("backend", ["tensorrt", "pytorch"])
def test_models_are_those_of_the_recipe(backend):
    """Of an artifact they have other names, and there are no such files elsewhere."""
    of = settings(backend, "draft_target")
    renamed = of.longest.model_copy(update={"model": "./draft", "draft_length": 3})
    found = Settings(of.recipe, of.longest.model_copy(update={"model": "./draft"}))
    setting = found.drafting(renamed)
    assert setting.recipe.speculation.model == of.recipe.speculation.model == "d"
    drafting = setting.own or setting.recipe.speculation
    assert drafting.model == "d"
    assert drafting.draft_length == 3


def test_a_tree_brings_what_has_to_agree_with_it():
    of = settings("tensorrt", "eagle")
    tree = ((0,), (1,), (0, 0))
    values = {"tree": tree, "num_layers": 2, "max_draft_tokens": 3, "model": "./draft"}
    method = type(of.longest).model_validate(of.longest.model_dump() | values)
    found = of.drafting(method).recipe.speculation
    assert (found.tree, found.num_layers, found.model) == (tree, 2, "d")

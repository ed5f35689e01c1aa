"""A recipe says what its YAML is on two releases, and what in it has to change."""

from __future__ import annotations

import pytest

from tests.trtllm.engine_recipes import EQUIVALENT, OTHERS
from tests.trtllm.engine_recipes import recipe as engine_recipe
from trtspec.recipe import Recipe, dump_recipe
from trtspec.trtllm.facts.families import newest_of
from trtspec.trtllm.migrate.recipes import migrate_recipe

MAIN, R1_2, R1_1 = (newest_of(family) for family in ("main", "1.2", "1.1"))
LINES = {(): 1, ("speculation",): 5, ("speculation", "draft_length"): 8}


def recipe(draft_length=None, backend="pytorch"):
    return Recipe.model_validate(
        {
            "schema": "trtspec/v1",
            "name": "llama",
            "backend": backend,
            "target": {"model": "org/llama"},
            "speculation": {
                "method": "eagle3",
                "model": "org/head",
                "draft_length": draft_length or {8: 4, 32: 2, 64: 1},
            },
            "limits": {"max_batch_size": 64},
        }
    )


def emitted(moved, key):
    found = [c for c in moved.emitted_changes if c.path[-1] == key]
    return [(change.kind, change.old, change.new) for change in found]


def test_the_recipe_stays_and_its_yaml_differs():
    moved = migrate_recipe(recipe(), MAIN, R1_2)
    assert moved.recipe == recipe()
    assert not moved.is_blocked
    assert emitted(moved, "draft_len_schedule") == [
        ("converted", {1: 4, 9: 2, 33: 1}, {8: 4, 32: 2, 64: 1})
    ]
    assert emitted(moved, "decoding_type") == [("converted", "Eagle", "Eagle3")]
    assert [kind for kind, *_ in emitted(moved, "eagle3_one_model")] == ["removed"]
    assert moved.emitted.version == MAIN


def test_the_other_way_brings_the_keys_back():
    moved = migrate_recipe(recipe(), R1_2, MAIN)
    assert [kind for kind, *_ in emitted(moved, "eagle3_one_model")] == ["added"]


def test_without_a_source_nothing_is_compared():
    assert migrate_recipe(recipe(), MAIN).emitted_changes == ()


def test_what_the_target_cannot_express_is_blocked_at_its_line():
    moved = migrate_recipe(recipe(), R1_1, None, LINES)
    (change,) = [c for c in moved.changes if c.kind == "blocked"]
    assert change.path == ("speculation", "draft_length")
    assert change.line == 8
    assert change.old == {8: 4, 32: 2, 64: 1}
    assert moved.is_blocked


def test_a_recipe_for_the_reference_backend_has_nothing_to_migrate():
    ours = Recipe.model_validate(
        {
            "schema": "trtspec/v1",
            "name": "small",
            "target": {"model": "org/small"},
            "speculation": {"method": "ngram", "draft_length": 4},
        }
    )
    moved = migrate_recipe(ours, MAIN, R1_2)
    assert moved.recipe == ours
    assert moved.changes == ()
    assert moved.emitted is None


@pytest.mark.parametrize("method", [*EQUIVALENT, *OTHERS])
def test_a_recipe_for_engines_stays_where_there_are_engines(method):
    ours = engine_recipe(method)
    moved = migrate_recipe(ours, R1_2)
    assert moved.recipe == ours
    assert moved.changes == ()


@pytest.mark.parametrize("method", EQUIVALENT)
def test_a_recipe_for_engines_becomes_one_for_pytorch_on_main(method):
    moved = migrate_recipe(engine_recipe(method), MAIN)
    assert moved.recipe.backend == "pytorch"
    assert moved.recipe.engine is None
    assert "engine:" not in dump_recipe(moved.recipe)
    (backend,) = [c for c in moved.changes if c.path == ("backend",)]
    assert (backend.old, backend.new) == ("tensorrt", "pytorch")
    gone = {c.path[:1] for c in moved.changes if c.kind == "removed"}
    assert ("engine",) in gone
    assert moved.emitted is not None


@pytest.mark.parametrize("method", OTHERS)
def test_a_method_of_engines_is_named_with_an_alternative(method):
    moved = migrate_recipe(engine_recipe(method), MAIN)
    assert moved.recipe is None
    (change,) = moved.changes
    assert change.kind == "blocked"
    assert method in change.reason
    assert any(word in change.reason for word in ("eagle3", "ngram"))

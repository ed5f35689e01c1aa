"""Paths that are no recipe: names alike, artifacts, stdin."""

from __future__ import annotations

import pytest

from trtspec.errors import RecipeError
from trtspec.recipe import load_recipe


@pytest.mark.parametrize("name", ["日本.yaml", "xyz.yaml"])
def test_a_suffix_in_common_makes_no_name_alike(tmp_path, name):
    (tmp_path / "ik.yaml").touch()
    with pytest.raises(RecipeError) as caught:
        load_recipe(tmp_path / name)
    (problem,) = caught.value.problems
    assert problem.action == f"choose one of the recipes in {tmp_path}: ik.yaml"


def test_an_artifact_is_told_from_a_folder_of_recipes(tmp_path):
    for name in ("manifest.json", "recipe.yaml"):
        (tmp_path / name).touch()
    with pytest.raises(RecipeError) as caught:
        load_recipe(tmp_path)
    (problem,) = caught.value.problems
    assert problem.what == "this is an artifact, not a recipe"
    assert f"trtspec run {tmp_path};" in problem.action
    assert problem.action.endswith(str(tmp_path / "recipe.yaml"))


def test_stdin_is_not_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RecipeError, match="the recipe is not read from stdin"):
        load_recipe("-")


def test_a_link_in_a_circle_is_called_one(tmp_path):
    (tmp_path / "other.yaml").touch()
    path = tmp_path / "loop.yaml"
    path.symlink_to("loop.yaml")
    with pytest.raises(RecipeError) as caught:
        load_recipe(path)
    (problem,) = caught.value.problems
    assert problem.what == "the recipe is a link that leads back to itself"
    assert problem.action == "point the link at the file that is meant"


@pytest.mark.parametrize(
    "text",
    [
        "speculative_config: {decoding_type: Eagle3}",
        "kv_cache_config: {enable_block_reuse: false}\nmax_seq_len: 4096",
        "tensor_parallel_size: 2",
    ],
)
def test_a_configuration_of_tensorrt_llm_is_sent_to_migrate(problem_of, text):
    problem = problem_of(text + "\n")
    assert text.partition(":")[0] in problem.what
    assert "trtspec migrate recipe.yaml --to VERSION" in problem.action
    assert problem.where == "recipe.yaml:1"


@pytest.mark.parametrize("key", ["speculative_config", "max_seq_len"])
def test_a_recipe_with_such_a_key_stays_a_recipe(problem_of, ngram, key):
    problem = problem_of(ngram + f"{key}: 4\n")
    assert "unknown key" in problem.what
    assert "migrate" not in problem.action

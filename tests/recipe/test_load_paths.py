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

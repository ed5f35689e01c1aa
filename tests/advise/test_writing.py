"""A written recipe loads back to what was meant, comments and all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trtspec.advise.recipe import recipe_name
from trtspec.advise.writing import recipe_text
from trtspec.recipe.load import load_recipe
from trtspec.recipe.schema import Recipe
from trtspec.recipe.yaml_lines import parse_yaml

CONTENT = {
    "schema": "trtspec/v1",
    "name": "a-b",
    "backend": "reference",
    "target": {"model": "./it is: #1", "dtype": "float32"},
    "speculation": {"method": "medusa", "model": "./h", "tree": [[0], [0, 0], [1]]},
    "limits": {"max_batch_size": 4, "max_total_tokens": 2048},
    "sampling": {"temperature": 0.0},
}
LONG = "so many words that they cannot stand beside a key " * 3
COMMENTS = {
    ("target", "model"): LONG,
    ("limits", "max_batch_size"): "short",
    ("sampling", "temperature"): "greedy # and more: [of] {it}",
}


def test_a_written_recipe_loads_back_to_its_content(tmp_path):
    path = tmp_path / "recipe.yaml"
    path.write_text(recipe_text(CONTENT, COMMENTS, ["First.", LONG]))
    assert load_recipe(path).recipe == Recipe.model_validate(CONTENT)


def test_short_comments_stand_beside_and_long_ones_above_their_keys():
    lines = recipe_text(CONTENT, COMMENTS, ["First."]).splitlines()
    assert lines[0] == "# First."
    assert "  max_batch_size: 4 # short" in lines
    model = next(n for n, line in enumerate(lines) if line.startswith("  model: "))
    assert lines[model - 1].startswith("  # ")
    assert lines[model] == "  model: './it is: #1'"


def test_lines_are_not_too_long():
    text = recipe_text(CONTENT, COMMENTS, [LONG])
    assert max(map(len, text.splitlines())) <= 88


@settings(deadline=None)
@given(st.text(max_size=100), st.text(max_size=100))
def test_no_comment_or_name_changes_what_is_read(comment, name):
    comments = {("target", "model"): comment, ("limits", "max_batch_size"): comment}
    content = {**CONTENT, "name": recipe_name(name)}
    document = parse_yaml(recipe_text(content, comments, [comment, name]), "r.yaml")
    assert not document.problems
    assert document.value == content


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Llama-3.1-8B-Instruct-eagle3", "llama-3.1-8b-instruct-eagle3"),
        ("Qwen3 8B (mine)", "qwen3-8b-mine"),
        ("...", "recipe"),
        ("Ä", "recipe"),
        ("_x_", "x"),
        ("a" * 200, "a" * 80),
    ],
)
def test_any_text_becomes_a_name(text, expected):
    assert recipe_name(text) == expected

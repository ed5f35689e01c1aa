"""Recipe files to read, and the problems that reading them gives."""

from collections.abc import Callable
from pathlib import Path

import pytest

from trtspec.errors import Problem, RecipeError
from trtspec.recipe import load_recipe

HEAD = "schema: trtspec/v1\nname: x\ntarget:\n  model: a\n"
NGRAM = HEAD + "speculation:\n  method: ngram\n  draft_length: 4\n"


@pytest.fixture
def ngram() -> str:
    """A valid recipe of 7 lines; more sections can be appended."""
    return NGRAM


@pytest.fixture
def recipe_file(tmp_path: Path, monkeypatch) -> Callable[[str | bytes], str]:
    """Write ``recipe.yaml`` in the working directory; gives its name."""
    monkeypatch.chdir(tmp_path)

    def write(content: str | bytes) -> str:
        data = content.encode() if isinstance(content, str) else content
        Path("recipe.yaml").write_bytes(data)
        return "recipe.yaml"

    return write


@pytest.fixture
def problems_of(recipe_file) -> Callable[[str | bytes], tuple[Problem, ...]]:
    """Give the problems of a recipe that must not load."""

    def read(content: str | bytes) -> tuple[Problem, ...]:
        with pytest.raises(RecipeError) as caught:
            load_recipe(recipe_file(content))
        return caught.value.problems

    return read


@pytest.fixture
def problem_of(problems_of) -> Callable[[str | bytes], Problem]:
    """Give the one problem of a recipe that must not load."""

    def read(content: str | bytes) -> Problem:
        (problem,) = problems_of(content)
        return problem

    return read

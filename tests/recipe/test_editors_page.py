"""The page on editors: its recipe, schema and settings work as it says."""

import fnmatch
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from trtspec.recipe import load_recipe
from trtspec.recipe.yaml_lines import parse_yaml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/editors.md").read_text()
MODELINE = re.compile(r"# yaml-language-server: \$schema=(\S+)")
DRAFTS = ["Draft202012Validator", "Draft7Validator"]
"""The schema's own, and the newest that older language servers know."""


def block(language):
    (text,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)
    return text


def as_json(text):
    return json.loads(json.dumps(parse_yaml(text, "f").value))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder as the page describes it: its recipe, and the schema beside it."""
    path = tmp_path_factory.mktemp("recipes")
    (command,) = re.findall(r"^    trtspec (.*) > (.*)$", PAGE, re.M)
    made = subprocess.run(
        [sys.executable, "-m", "trtspec", *command[0].split()],
        capture_output=True,
        text=True,
        check=True,
    )
    (path / command[1]).write_text(made.stdout)
    (path / "recipe.yaml").write_text(block("yaml"))
    return path


@pytest.fixture(scope="module", params=DRAFTS)
def validator(folder, request):
    """What an editor does: follow the modeline, and read the schema."""
    jsonschema = pytest.importorskip("jsonschema")
    first = (folder / "recipe.yaml").read_text().splitlines()[0]
    schema = json.loads((folder / MODELINE.fullmatch(first)[1]).read_text())
    return getattr(jsonschema, request.param)(schema)


def test_the_recipe_is_one_with_its_modeline(folder):
    loaded = load_recipe(folder / "recipe.yaml")
    assert loaded.recipe.name == "my-first"
    assert loaded.where("name").endswith("recipe.yaml:3")


def test_the_schema_that_the_modeline_names_takes_the_recipe(validator):
    validator.validate(as_json(block("yaml")))


@pytest.mark.parametrize(
    ("old", "new"),
    [("ngram", "ngrm"), ("max_batch_size: 8", "max_batch_size: 0"), ("name: my", "#")],
)
def test_the_mistakes_that_the_page_names_are_marked(validator, old, new):
    text = block("yaml")
    assert old in text
    assert not validator.is_valid(as_json(text.replace(old, new)))


def test_the_settings_for_a_folder_match_the_bundled_recipes():
    (patterns,) = json.loads(block("json"))["yaml.schemas"].values()
    recipes = [path.relative_to(ROOT) for path in ROOT.glob("recipes/*/*.yaml")]
    assert recipes
    assert all(fnmatch.fnmatch(str(path), patterns[0]) for path in recipes)
    assert patterns[0] in block("lua")

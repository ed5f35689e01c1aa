"""What the README shows works: its commands, its options, its recipe."""

from __future__ import annotations

import re

import pytest

from tests.e2e.conftest import ROOT
from trtspec.cli.main import COMMANDS, cli
from trtspec.recipe import load_recipe

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("*/README.md")])


def test_recipes_in_the_readme_are_valid(tmp_path):
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert blocks
    for block in blocks:
        (tmp_path / "recipe.yaml").write_text(block)
        load_recipe(tmp_path / "recipe.yaml")


@pytest.mark.parametrize("recipe", sorted(ROOT.glob("recipes/*/*.yaml")), ids=str)
def test_bundled_recipes_are_valid_and_name_prompts_that_exist(recipe):
    loaded = load_recipe(recipe)
    assert (loaded.base / loaded.recipe.workload.prompts).is_file()


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_commands_and_options_named_in_the_docs_exist(page):
    for command, rest in re.findall(r"\btrtspec ([a-z]+)([^`\n|]*)", page.read_text()):
        if command not in COMMANDS:
            continue
        known = {
            option
            for parameter in cli.get_command(None, command).params
            for option in parameter.opts
        }
        assert set(re.findall(r"--[a-z-]+", rest)) <= known | {"--help"}, command


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_to_files_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_every_command_is_in_the_readme():
    text = (ROOT / "README.md").read_text()
    assert [c for c in COMMANDS if f"`trtspec {c}" not in text] == []

"""What README and docs show works: commands, options, recipes, quoted output."""

from __future__ import annotations

import importlib
import re
import shlex
from typing import get_args

import pytest

from tests.e2e.conftest import ROOT
from trtspec.cli.main import COMMANDS, cli
from trtspec.methods import Speculation
from trtspec.recipe import load_recipe

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("*/README.md")])
QUOTED = re.compile(r"^ *(?:\$ )?trtspec +([a-z]+)((?:[^#\n\\]|\\\n)*)", re.M)
"""A command in a block of code, which a backslash takes on to the next line."""
ENGINES = ROOT / "docs/checkpoint-to-engines.md"


@pytest.fixture
def blocks(monkeypatch):
    """The script that writes what the pages quote."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module("docs_blocks")


def test_recipes_in_the_readme_are_valid(tmp_path):
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert blocks
    for block in blocks:
        (tmp_path / "recipe.yaml").write_text(block)
        load_recipe(tmp_path / "recipe.yaml")


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


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name != "cli.md"],  # there a sentence may wrap so
    ids=lambda path: path.name,
)
def test_quoted_commands_are_complete(page):
    quoted = QUOTED.findall(page.read_text())
    for name, rest in (one for one in quoted if one[0] in COMMANDS):
        command = re.sub(r" (> \S+|&)\s*$", "", rest)  # into a file, or beside others
        words = shlex.split(command.replace("\\\n", " "))
        cli.get_command(None, name).make_context(name, words).close()


def test_every_command_is_in_the_readme():
    text = (ROOT / "README.md").read_text()
    assert [c for c in COMMANDS if f"`trtspec {c}" not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_quoted_output_is_what_comes_out(page, blocks):
    text = page.read_text()
    assert text.count("<!-- generated: ") == len(blocks.BLOCK.findall(text))
    assert blocks.rewritten(text) == text, f"python scripts/docs_blocks.py {page.name}"


def test_a_stale_block_is_noticed(blocks):
    text = "<!-- generated: not-established -->\n- nothing\n<!-- end -->\n"
    rewritten = blocks.rewritten(text)
    assert rewritten != text
    assert blocks.rewritten(rewritten) == rewritten


def test_commands_of_every_engine_recipe_are_quoted():
    text = ENGINES.read_text()
    for path in sorted(ROOT.glob("recipes/*/*.yaml")):
        if load_recipe(path).recipe.backend == "tensorrt":
            recipe = path.relative_to(ROOT)
            assert f"<!-- generated: plan {recipe} --trtllm 1.2.1 -->" in text


def test_the_exactness_tables_have_every_method(blocks):
    methods = set(get_args(get_args(Speculation)[0]))
    shown = [*blocks.SHOWN.values(), *blocks.docs_releases.SHOWN.values()]
    assert {type(method) for method in shown} == methods


def test_the_engine_page_says_what_was_not_run():
    text = " ".join(ENGINES.read_text().split())
    assert "Nothing here was run on a GPU by the project's tests." in text


def test_the_page_on_releases_says_what_was_not_run():
    text = " ".join((ROOT / "docs/every-release.md").read_text().split())
    assert "Nothing here was run on a GPU by the project's tests." in text

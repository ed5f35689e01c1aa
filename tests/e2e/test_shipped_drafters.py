"""The drafters that come with the recipes: small, in bfloat16, with a card, checked."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tests.e2e.conftest import ROOT
from trtspec.cli.main import cli
from trtspec.models.safetensors_header import read_header

RECIPES = ROOT / "recipes/smollm2-135m"
DRAFTERS = sorted((RECIPES / "drafters").iterdir())
MOST_BYTES = 20_000_000
CATEGORIES = ("coding", "math_reasoning", "rag", "summarization", "translation")

every = pytest.mark.parametrize("folder", DRAFTERS, ids=lambda path: path.name)


@every
def test_weights_are_small_and_in_bfloat16(folder):
    (weights,) = folder.glob("*.safetensors")
    assert weights.stat().st_size <= MOST_BYTES
    types = {
        header.dtype
        for name, header in read_header(weights).items()
        if name not in ("d2t", "t2d")
    }
    assert types == {"bfloat16"}


@every
def test_the_card_says_how_it_was_made_and_what_it_reaches(folder):
    card = (folder / "README.md").read_text(encoding="utf-8")
    for part in ("fit_drafter.py", "--seed", "minutes", "held out", *CATEGORIES):
        assert part in card, part


@every
def test_its_recipe_passes_check_without_a_warning(folder):
    recipe = RECIPES / f"{folder.name}.yaml"
    result = CliRunner().invoke(cli, ["check", str(recipe), "--json"])
    assert result.exit_code == 0, result.output
    findings = json.loads(result.stdout)["findings"]
    assert {one["severity"] for one in findings} <= {"note"}, findings

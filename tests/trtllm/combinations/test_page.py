"""docs/combinations.md is written from the facts, and has every one of them."""

import importlib
from pathlib import Path

import pytest

from trtspec.trtllm.facts.combinations import all_combinations, features

ROOT = Path(__file__).parents[3]


@pytest.fixture
def pages(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module("write_combinations")


def test_the_page_is_in_step_with_the_facts(pages):
    written = (ROOT / "docs" / "combinations.md").read_text(encoding="utf-8")
    assert written == pages.page(), "python scripts/write_combinations.py"


def test_the_page_has_every_feature_and_every_source(pages):
    text = pages.page()
    for feature in features().values():
        assert f"### {feature.title[0].upper()}{feature.title[1:]}" in text
    for entry in all_combinations():
        assert entry.source in text
        assert entry.says in text

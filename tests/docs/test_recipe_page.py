"""The recipe reference has every key of the schema, and says what the code says."""

from __future__ import annotations

import re

import docs_recipe
import pytest

from tests.docs.conftest import ROOT
from trtspec.check.rules import reference_settings
from trtspec.methods.catalogue import METHODS
from trtspec.recipe.json_schema import recipe_json_schema

PAGE = (ROOT / "docs/recipe.md").read_text(encoding="utf-8")
SCHEMA = recipe_json_schema()


def section(heading: str) -> str:
    """Give the text below a heading, up to the next one."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", PAGE, re.M | re.S)
    assert found, heading
    return found.group(1)


def cells(heading: str) -> dict[str, list[str]]:
    """Give the rows of a section's table by key."""
    rows = re.findall(r"^\| `([^`]+)` \|(.*)\|$", section(heading), re.M)
    return {
        key: [cell.strip() for cell in re.split(r"(?<!\\)\|", rest)]
        for key, rest in rows
    }


def test_every_definition_of_the_schema_has_a_place():
    methods = {ref["$ref"].rpartition("/")[2] for ref in _choices()}
    assert set(docs_recipe.PARTS) | methods == set(SCHEMA["$defs"])


def _choices():
    return SCHEMA["properties"]["speculation"]["oneOf"]


@pytest.mark.parametrize("definition", docs_recipe.PARTS)
def test_every_key_of_a_section_is_there(definition):
    wanted = list(SCHEMA["$defs"][definition]["properties"])
    assert list(cells(docs_recipe.PARTS[definition])) == wanted


def test_every_key_of_the_top_level_is_there():
    assert list(cells("Top level")) == list(SCHEMA["properties"])


@pytest.mark.parametrize("name", METHODS)
def test_every_key_of_a_method_is_there(name):
    wanted = [key for key in METHODS[name].model_fields if key != "method"]
    assert list(cells(name)) == wanted


def test_type_limits_default_and_meaning_of_some_keys():
    assert cells("limits")["kv_cache_fraction"] == [
        "number",
        "above 0, up to 1.0",
        "`0.85`",
        "all",
        "Share of the free device memory that the KV cache may take.",
    ]
    assert cells("target")["model"][2] == "*required*"
    assert cells("target")["revision"][2] == "unset"
    assert cells("ngram")["draft_length"][:2] == ["whole number or map", "1 to 256"]
    assert cells("workload")["concurrency"][:2] == [
        "list of whole numbers",
        "1 to 64 entries, each 1 to 4096",
    ]


def test_backends_of_the_sections():
    assert {row[3] for row in cells("engine").values()} == {"`tensorrt`"}
    assert {row[3] for row in cells("pytorch").values()} == {"`pytorch`"}
    assert {row[3] for row in cells("limits").values()} == {"all"}


def test_what_the_reference_backend_has_not_is_what_check_says():
    refused = set(reference_settings._REFUSED)
    of_page = {path.rpartition(".")[2] for path in docs_recipe.ONLY if "." in path}
    assert of_page == refused
    assert set(docs_recipe.IDLE) == set(reference_settings._IGNORED)
    assert cells("draft_target")["use_draft_logits"][3] == "no effect on `reference`"


def test_where_a_method_runs():
    assert "Backends: `reference`; `pytorch` main." in section("suffix")
    assert "`tensorrt`" not in section("eagle3").partition("\n\n|")[0]


def test_ranges_in_words():
    whole = {"type": "integer", "minimum": 1, "maximum": 9}
    assert docs_recipe._limits(whole) == "1 to 9"
    assert docs_recipe._limits({"type": "integer", "minimum": 1}) == "from 1"
    below = {"type": "number", "exclusiveMinimum": 0.0, "exclusiveMaximum": 1.0}
    assert docs_recipe._limits(below) == "above 0, below 1"
    assert docs_recipe._limits({"anyOf": [{"type": "null"}, whole]}) == "1 to 9"
    assert docs_recipe._limits({"type": "string", "minLength": 1}) == "not empty"

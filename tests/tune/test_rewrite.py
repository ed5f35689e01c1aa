"""A tuned recipe is the user's own text with other values."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from trtspec.recipe import load_recipe
from trtspec.tune.rewrite import (
    block,
    difference,
    edited,
    moved_paths,
    with_section,
    without_comments,
    without_section,
)

TEXT = """\
# why we do this
name: toy
speculation:
  method: ngram # looked up
  # a guess
  draft_length: {2: 4, 4: 2} # to be tuned
  max_matching_ngram: 3
limits: {max_batch_size: 8}
workload:
  prompts: "chat.jsonl"
"""
LENGTH = ("speculation", "draft_length")
RECIPES = sorted(
    (Path(__file__).parents[2] / "recipes" / "smollm2-135m").glob("*.yaml")
)


def test_only_the_value_changes():
    after = edited(TEXT, {LENGTH: 6})
    assert after == TEXT.replace("{2: 4, 4: 2}", "6")


def test_comments_above_a_value_that_changes_can_be_dropped():
    assert without_comments(TEXT, LENGTH) == TEXT.replace("  # a guess\n", "")
    assert without_comments(TEXT, ("name",)) == TEXT.removeprefix("# why we do this\n")
    assert without_comments(TEXT, ("speculation", "model")) == TEXT


def test_a_map_is_written_in_one_line():
    assert "draft_length: {1: 6, 4: 2} # to be tuned" in edited(
        TEXT, {LENGTH: {1: 6, 4: 2}}
    )


def test_a_map_over_several_lines_is_replaced_as_a_whole():
    text = TEXT.replace("{2: 4, 4: 2} # to be tuned", "\n    2: 4\n    4: 2")
    after = edited(text, {LENGTH: 5})
    assert yaml.safe_load(after)["speculation"] == {
        "method": "ngram",
        "draft_length": 5,
        "max_matching_ngram": 3,
    }


def test_a_section_is_replaced_as_a_whole():
    after = edited(TEXT, {("speculation",): {"method": "none"}})
    assert yaml.safe_load(after) == {
        **yaml.safe_load(TEXT),
        "speculation": {"method": "none"},
    }
    assert after.startswith("# why we do this")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (("workload", "output_tokens"), 96),
        (("limits", "max_total_tokens"), 64),
        (("sampling", "temperature"), 0.0),
        (("backend",), "reference"),
    ],
)
def test_a_key_that_is_not_there_is_added(key, value):
    found = yaml.safe_load(edited(TEXT, {key: value}))
    for name in key:
        found = found[name]
    assert found == value


def test_a_section_of_the_top_level_can_be_dropped():
    old = TEXT + "tuned:\n  by: trtspec 0\n  loads:\n    - {concurrency: 1}\n"
    assert without_section(old, "tuned") == TEXT
    assert yaml.safe_load(without_section(old, "limits")) == {
        k: v for k, v in yaml.safe_load(old).items() if k != "limits"
    }
    assert without_section(TEXT, "tuned") == TEXT


def test_a_block_reads_back():
    section = {"by": "trtspec 1", "loads": [{"concurrency": 1}, {"concurrency": 4}]}
    text = block("tuned", section)
    assert yaml.safe_load(text) == {"tuned": section}
    assert text.count("\n") == 5


def test_a_section_is_written_anew_behind_the_others():
    old = with_section(TEXT, "tuned", {"by": "trtspec 0"})
    assert old.startswith(TEXT)
    assert yaml.safe_load(with_section(old, "tuned", {"by": "trtspec 1"})) == {
        **yaml.safe_load(TEXT),
        "tuned": {"by": "trtspec 1"},
    }


def test_a_recipe_in_json_stays_one_document():
    text = json.dumps(yaml.safe_load(TEXT))
    after = with_section(edited(text, {LENGTH: {1: 6}}), "tuned", {"by": "trtspec 1"})
    again = with_section(after, "tuned", {"by": "trtspec 2"})
    found = yaml.safe_load(again)
    assert found["speculation"]["draft_length"] == {1: 6}
    assert found["tuned"] == {"by": "trtspec 2"}
    added = yaml.safe_load(edited(text, {("sampling", "seed"): 3}))
    assert added["sampling"] == {"seed": 3}


def test_paths_are_kept_right_in_another_directory(tmp_path):
    (tmp_path / "drafters").mkdir()
    (tmp_path / "chat.jsonl").touch()
    text = TEXT.replace("method: ngram", "method: eagle3\n  model: drafters")
    changes = moved_paths(text, tmp_path, tmp_path / "tuned" / "deep")
    assert changes == {
        ("speculation", "model"): "../../drafters",
        ("workload", "prompts"): "../../chat.jsonl",
    }


def test_what_is_no_path_is_left_alone(tmp_path):
    text = "target: {model: org/model}\nspeculation: {method: ngram}\n"
    assert moved_paths(text, tmp_path, tmp_path / "x") == {}


def test_the_difference_is_a_diff():
    shown = difference(TEXT, edited(TEXT, {LENGTH: 6}), "toy.yaml")
    assert "--- toy.yaml" in shown
    assert "-  draft_length: {2: 4, 4: 2} # to be tuned\n" in shown
    assert "+  draft_length: 6 # to be tuned\n" in shown
    assert difference(TEXT, TEXT, "toy.yaml") == ""


@pytest.mark.parametrize("path", RECIPES, ids=lambda p: p.stem)
def test_every_recipe_of_ours_can_be_edited(path, tmp_path):
    text = path.read_text()
    changes = {("workload", "concurrency"): [1, 2], ("name",): "other"}
    after = edited(text, moved_paths(text, path.parent, tmp_path) | changes)
    copy = tmp_path / "copy.yaml"
    copy.write_text(after)
    recipe = load_recipe(copy).recipe
    before = load_recipe(path).recipe
    assert recipe.name == "other"
    assert recipe.workload.concurrency == (1, 2)
    assert recipe.speculation.longest_draft == before.speculation.longest_draft
    assert recipe.limits == before.limits

"""The tuned recipe, the conditions, and how to find it all again."""

from __future__ import annotations

import yaml

from tests.report.tuning.made import shown
from tests.tune.made_result import candidate, result

RECIPE, CONDITIONS, AGAIN = "The tuned recipe", "Conditions", "How to reproduce"


def speculation(page):
    (code,) = page.of(RECIPE, "code")
    return yaml.safe_load(code.text)["speculation"]


def test_the_recipe_has_the_chosen_lengths(full):
    assert speculation(full) == {"method": "ngram", "draft_length": {1: 3, 4: 2}}


def test_not_to_speculate_is_a_recipe_too(none):
    assert speculation(none) == {"method": "none"}


def test_a_tree_keeps_the_rest_of_its_recipe(tmp_path):
    page = shown(tmp_path, result(candidate(cut_anywhere=False, draft_length=4)))
    assert speculation(page) == {"method": "ngram"}
    assert "as it is in the recipe" in page.of(RECIPE, "code")[0].text


def test_the_block_with_its_origin_is_the_tuned_recipe_s(full):
    (details,) = full.of(RECIPE, "details")
    block = yaml.safe_load(details.blocks[0].text)["tuned"]
    assert block["prompts"] == 12
    assert [row["draft_length"] for row in block["loads"]] == [3, 2, 0]


def test_conditions_are_said_in_short_and_in_full(full):
    (facts,) = full.of(CONDITIONS, "facts")
    short = dict(facts.pairs)
    assert short["machine"] == (
        "AMD EPYC 9354, 16 usable cores, 128 GiB, device cpu, threads 2"
    )
    assert short["software"] == "python 3.12.1, trtspec 0.1.0, torch 2.13.0, float32"
    assert short["times hold for"] == "AMD EPYC 9354 (measured)"
    found = {
        block.summary: dict(block.blocks[0].pairs)
        for block in full.of(CONDITIONS, "details")
    }
    assert found["Software"]["tensorrt_llm"] == "–"
    assert found["Environment variables that change speed"] == {"OMP_NUM_THREADS": "2"}
    assert found["Machine"]["cpu"] == "AMD EPYC 9354"


def test_what_is_not_set_is_said(tmp_path):
    made = result()
    bare = made.conditions.model_copy(update={"environment": {}, "runner": {}})
    page = shown(tmp_path, made.model_copy(update={"conditions": bare}))
    found = {
        block.summary: block.blocks[0].pairs for block in page.of(CONDITIONS, "details")
    }
    assert found["Engine"] == (("none", "–"),)


def test_the_command_and_the_hashes_are_there(full):
    (code,) = full.of(AGAIN, "code")
    assert code.text == "trtspec tune toy.yaml --concurrency 1,4,8"
    (facts,) = full.of(AGAIN, "facts")
    pairs = dict(facts.pairs)
    assert pairs["SHA-256 of the token ids"] == "b" * 64
    assert pairs["artifact toy-suffix"] == "f" * 64
    assert pairs["the bench, a run of its own"] == (
        "trtspec report 20261130T164300Z-toy/confirmation"
    )


def test_without_a_command_and_a_bench_that_is_said(tmp_path):
    page = shown(tmp_path, result(command=()))
    (text,) = page.of(AGAIN, "text")
    assert text.text == "The command line was not recorded."
    (facts,) = page.of(AGAIN, "facts")
    assert "the bench, a run of its own" not in dict(facts.pairs)

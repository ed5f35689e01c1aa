"""The table of published drafters: every entry can be used, and has a source."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from trtspec.advise.published import (
    methods_of_drafter,
    published_for,
    published_targets,
)
from trtspec.advise.starting_points import METHODS_TO_START
from trtspec.methods.catalogue import METHODS
from trtspec.models.hub import is_hub_id

ROOT = Path(__file__).resolve().parents[2]
DRAFTERS = [d for target in published_targets() for d in target.drafters]


def test_every_drafter_is_for_a_method_that_a_recipe_can_begin_with():
    assert {d.method for d in DRAFTERS} <= set(METHODS_TO_START)


def test_a_drafter_is_missing_only_where_the_target_has_it_inside():
    assert {d.method for d in DRAFTERS if d.model is None} == {"mtp"}
    assert all(is_hub_id(d.model) for d in DRAFTERS if d.model is not None)


def test_every_source_is_a_page_or_a_file_of_this_repository():
    sources = {d.source for d in DRAFTERS}
    files = [source for source in sources if ":" not in source]
    assert files
    assert all((ROOT / name).is_file() for name in files)
    assert all(s.startswith("https://") for s in sources if ":" in s)


def test_no_drafter_is_listed_twice_for_a_target():
    for target in published_targets():
        named = Counter((d.method, d.model) for d in target.drafters)
        assert named.most_common(1)[0][1] == 1, target.model


def test_one_drafter_is_for_one_method_wherever_it_stands():
    stated = {(d.model.lower(), d.method) for d in DRAFTERS if d.model}
    assert dict(stated) == dict(methods_of_drafter())
    assert len(stated) == len(methods_of_drafter())


def test_only_drafters_in_a_layout_of_their_own_are_kept_from_a_backend():
    kept = [d for d in DRAFTERS if d.backends]
    assert kept
    assert all(d.note and set(d.backends) <= {"reference"} for d in kept)


@pytest.mark.parametrize(
    "name",
    ["Qwen/Qwen3-8B", "qwen/qwen3-8b", "Qwen3-8B", "qwen3-8b"],
)
def test_a_target_is_found_by_its_id_or_the_last_part_of_it(name):
    found = published_for(name)
    assert found is not None
    assert found.model == "Qwen/Qwen3-8B"
    assert "AngelSlim/Qwen3-8B_eagle3" in [d.model for d in found.drafters]


def test_an_older_name_of_a_target_finds_it_too():
    older = published_for("meta-llama/Meta-Llama-3.1-8B-Instruct")
    assert older is published_for("meta-llama/Llama-3.1-8B-Instruct")


@pytest.mark.parametrize("name", ["Qwen/Qwen3-8B-Base", "someone/Qwen3-80B", "8B"])
def test_a_target_that_is_only_alike_is_not_found(name):
    assert published_for(name) is None


def test_a_drafter_of_a_kind_belongs_to_a_method_that_takes_one():
    assert all(METHODS[d.method].drafter_kind is not None for d in DRAFTERS)

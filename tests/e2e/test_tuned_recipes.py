"""Every tuned recipe that is shipped loads, and says where its draft length is from."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import ROOT
from trtspec.methods.draft_length import draft_length_at
from trtspec.recipe import load_prompts, load_recipe
from trtspec.recipe.workload import prompts_path

TUNED = sorted((ROOT / "recipes/smollm2-135m/tuned").glob("*.yaml"))
WORKLOADS = {path.stem for path in (ROOT / "recipes/workloads").glob("*.jsonl")}


def test_there_is_one_for_every_workload():
    assert {path.stem for path in TUNED} == WORKLOADS


@pytest.mark.parametrize("path", TUNED, ids=lambda path: path.stem)
def test_its_table_is_what_it_does(path):
    loaded = load_recipe(path)
    recipe = loaded.recipe
    assert recipe.workload.prompts.endswith(f"{path.stem}.jsonl")
    where = loaded.where("workload", "prompts")
    assert load_prompts(prompts_path(loaded.base, recipe.workload.prompts, where))
    assert [row.concurrency for row in recipe.tuned.loads] == list(
        recipe.workload.concurrency
    )
    for row in recipe.tuned.loads:
        length = draft_length_at(recipe.speculation.draft_length, row.concurrency)
        assert row.draft_length == length

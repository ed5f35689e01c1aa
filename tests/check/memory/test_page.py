"""The worked example of docs/memory.md is what the program says."""

from pathlib import Path

from tests.check.memory.builders import DRAFT, LLAMA_1B, LLAMA_8B, models, recipe
from trtspec.check.memory.fixes import fixes
from trtspec.check.memory.for_recipe import plan_for
from trtspec.check.memory.table import plan_lines
from trtspec.gpu_kinds import gpu_kind

PAGE = (Path(__file__).parents[3] / "docs" / "memory.md").read_text()
RECIPE = recipe(speculation=DRAFT, limits={"max_batch_size": 16})
MODELS = models(LLAMA_8B, draft=LLAMA_1B)
PLAN = plan_for(RECIPE, MODELS, gpu_kind("l4"))


def test_the_table_is_the_plans():
    table = "\n".join(f"    {line}" for line in plan_lines(PLAN))
    assert table in PAGE


def test_the_list_is_that_of_the_fixes():
    listed = "\n".join(f"- {fix}" for fix in fixes(RECIPE, MODELS, gpu_kind("l4")))
    assert listed in PAGE


def test_the_numbers_of_the_text_follow():
    assert 131_072 + 32_768 == PLAN.bytes_per_token == 163_840
    assert PLAN.tokens == 15_543
    wrong = PLAN.pool // 131_072
    assert f"would seem to be {wrong:,}" in PAGE

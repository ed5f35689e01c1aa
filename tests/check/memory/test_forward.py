"""The largest forward is the one that build writes, whatever the recipe says."""

from dataclasses import replace

import pytest
from packaging.version import Version

from tests.check.memory.builders import (
    DRAFT,
    EAGLE3,
    LLAMA_8B,
    LLAMA_70B,
    models,
    recipe,
)
from trtspec.check.memory.for_recipe import plan_for
from trtspec.check.memory.forward import ADVISED_NUM_TOKENS, forward_tokens
from trtspec.check.memory.table import plan_document
from trtspec.gpu_kinds import gpu_kind
from trtspec.trtllm import facts
from trtspec.trtllm.engine.sizes import target_sizes
from trtspec.trtllm.pytorch.compile.sizes import size_settings
from trtspec.trtllm.pytorch.compile.subject import Subject
from trtspec.trtllm.pytorch.settings import Setting

NGRAM = {"method": "ngram", "draft_length": 4}
CHAIN = [[0], [0, 0], [0, 0, 0]]
MEDUSA = {"method": "medusa", "model": "./head", "num_heads": 4, "tree": CHAIN}
LOOKAHEAD = {
    "method": "lookahead",
    "window_size": 4,
    "ngram_size": 3,
    "verification_set_size": 4,
}
LONG = {"max_batch_size": 4, "max_input_tokens": 65536, "max_total_tokens": 66000}
LIMITS = [
    LONG,
    {"max_batch_size": 256},
    {"max_batch_size": 4096},
    {"max_batch_size": 1, "max_input_tokens": 10, "max_total_tokens": 20},
]


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("speculation", [{"method": "none"}, EAGLE3, DRAFT, NGRAM])
@pytest.mark.parametrize(
    "options", [{}, {"chunked_prefill": True}, {"max_num_tokens": 70_000}]
)
def test_the_plan_has_the_servers_tokens(limits, speculation, options):
    asked = recipe(limits=limits, speculation=speculation, pytorch=options)
    compiled = Subject(asked, Version("1.2.1"), "1.2")
    written = {
        item.key: item.value
        for item in size_settings(compiled)
        if isinstance(item, Setting)
    }
    plan = plan_for(asked, models(LLAMA_8B), gpu_kind("h200"))
    assert plan.token_budget == written["max_num_tokens"]


@pytest.mark.parametrize("version", [None, "0.17.0", "0.19.0", "0.20.0", "1.2.1"])
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize(
    "speculation",
    [{"method": "none"}, DRAFT, NGRAM, MEDUSA, LOOKAHEAD],
    ids=lambda speculation: speculation["method"],
)
@pytest.mark.parametrize("engine", [{}, {"max_num_tokens": 100}])
def test_the_plan_has_the_engines_tokens(version, limits, speculation, engine):
    version = version and Version(version)
    asked = recipe("tensorrt", limits=limits, speculation=speculation, engine=engine)
    plan = plan_for(asked, models(LLAMA_8B), gpu_kind("h200"), version)
    assert plan.token_budget == target_sizes(asked, version).max_num_tokens


def test_above_as_many_tokens_the_builder_advises_against_more():
    assert facts.number_of("many_num_tokens") == ADVISED_NUM_TOKENS


def test_a_long_prompt_needs_a_large_reserve():
    """70B on two H200: 65,539 tokens of one forward, not 8192."""
    asked = recipe(limits=LONG, target={"tensor_parallel": 2})
    plan = plan_for(asked, models(LLAMA_70B), gpu_kind("h200"))
    assert plan.token_budget == 65_539
    # 4 * 8192 + 3 * 28672 / 2 values of 2 bytes, and 1.5 GiB beside them
    assert plan.reserve > 65_539 * (4 * 8192 + 3 * 14336) * 2 + (3 << 29)
    assert plan_document(plan)["max_num_tokens"] == 65_539
    split = recipe(
        limits=LONG, target={"tensor_parallel": 2}, pytorch={"chunked_prefill": True}
    )
    assert forward_tokens(split) == 8192


def test_the_batch_goes_by_the_tokens_that_build_writes():
    asked = recipe(speculation=EAGLE3, limits={"max_total_tokens": 4097})
    plan = plan_for(asked, models(LLAMA_8B), gpu_kind("h200"))
    assert plan.effective_batch == plan.max_batch_size
    assert replace(plan, token_budget=9).effective_batch == 1

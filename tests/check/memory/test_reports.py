"""The kinds of public reports on memory: each with inputs of our own.

What users ran into: draft weights or cache left out of the budget, a draft cache of
the target's size, a drafter on one GPU of several, an admission limit that speculation
cuts.
"""

import pytest

from tests.check.memory.builders import (
    DEEPSEEK,
    DRAFT,
    EAGLE3,
    EAGLE3_8B,
    LLAMA_1B,
    LLAMA_8B,
    LLAMA_70B,
    QWEN_8B,
    QWEN_SMALL,
    models,
    recipe,
)
from trtspec.check.memory.for_recipe import plan_for, without_speculation
from trtspec.gpu_kinds import gpu_kind

MTP = {"method": "mtp", "draft_length": 1}
PAIRS = [
    (QWEN_8B, QWEN_SMALL, "rtx 4090"),
    (LLAMA_8B, LLAMA_1B, "l4"),
    (LLAMA_70B, LLAMA_8B, "b200"),
    (QWEN_8B, LLAMA_1B, "a30"),
]


def planned(name, draft, gpu, **changes):
    asked = recipe(speculation=DRAFT, **changes)
    return asked, models(name, draft=draft), gpu_kind(gpu)


@pytest.mark.parametrize(("name", "draft", "gpu"), PAIRS)
def test_draft_weights_and_cache_are_in_the_budget(name, draft, gpu):
    """TensorRT-LLM #12188, #3497; vLLM #9995, #14067, #22624; SGLang #6875."""
    asked, known, kind = planned(name, draft, gpu)
    both = plan_for(asked, known, kind)
    off = plan_for(without_speculation(asked), known, kind)
    assert both.weights > off.weights
    assert both.bytes_per_token > off.bytes_per_token
    spent = sum(part.cache.per_token for part in both.parts) * both.tokens
    assert spent <= both.pool <= both.memory - both.weights - both.reserve


@pytest.mark.parametrize(
    ("name", "drafter", "speculation", "gpu"),
    [
        (LLAMA_8B, EAGLE3_8B, EAGLE3, "l4"),
        (DEEPSEEK, None, MTP, "h200"),
        (QWEN_8B, "Tengyunw/qwen3_8b_eagle3", EAGLE3, "a10"),
        ("openai/gpt-oss-120b", "lmsys/EAGLE3-gpt-oss-120b-bf16", EAGLE3, "h100"),
    ],
)
def test_a_drafters_cache_has_its_own_layers_not_the_targets(
    name, drafter, speculation, gpu
):
    """TensorRT-LLM #9279, #12571: 61 layers in place of few, half the pool lost."""
    asked = recipe(speculation=speculation, target={"tensor_parallel": 8})
    plan = plan_for(asked, models(name, drafter=drafter), gpu_kind(gpu))
    target, own = plan.parts
    assert 0 < own.cache.per_token <= target.cache.per_token / 10


@pytest.mark.parametrize("size", [2, 4, 8])
def test_a_draft_model_on_one_gpu_counts_whole_there(size):
    """A report on vLLM, #8731: the GPU that has the draft model runs out first."""
    asked = recipe("tensorrt", target={"tensor_parallel": size}, speculation=DRAFT)
    known, gpu = models(LLAMA_70B, draft=LLAMA_1B), gpu_kind("h200")
    plan = plan_for(asked, known, gpu)
    off = plan_for(without_speculation(asked), known, gpu)
    assert plan.weights - off.weights >= 2 * known.draft.parameters


@pytest.mark.parametrize(("name", "draft", "gpu"), PAIRS)
def test_the_price_of_speculation_is_seen_in_the_batch(name, draft, gpu):
    """SGLang #34290, vLLM #8073: the same settings run off, and fail or queue on."""
    limits = {"max_batch_size": 4096}
    asked, known, kind = planned(name, draft, gpu, limits=limits)
    on = plan_for(asked, known, kind)
    off = plan_for(without_speculation(asked), known, kind)
    assert on.effective_batch < off.effective_batch


@pytest.mark.parametrize("kv_cache", ["auto", "fp8", "nvfp4"])
def test_the_draft_model_has_the_cache_type_that_is_asked_for(kv_cache):
    """TensorRT-LLM #9279: there is one setting, and it is both models'."""
    asked = recipe(speculation=DRAFT, pytorch={"kv_cache": kv_cache})
    plan = plan_for(asked, models(LLAMA_8B, draft=LLAMA_1B), gpu_kind("b200"))
    assert len({part.cache_type for part in plan.parts}) == 1

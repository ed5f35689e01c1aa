"""From a recipe and its models to a plan: types, shares, drafters, assumptions."""

import pytest
from packaging.version import Version

from tests.check.memory.builders import (
    DEEPSEEK,
    DRAFT,
    EAGLE3,
    EAGLE3_8B,
    GPT_OSS,
    LLAMA_1B,
    LLAMA_8B,
    LLAMA_70B,
    LLAMA_70B_FP8,
    models,
    recipe,
)
from trtspec.check.memory.for_recipe import (
    ENGINE_DRAFT_SHARE,
    plan_for,
    without_speculation,
)
from trtspec.gpu_kinds import gpu_kind
from trtspec.trtllm.engine.run.load import target_cache

H100, H200 = gpu_kind("h100"), gpu_kind("h200")
MTP = {"method": "mtp", "draft_length": 3}
CHAIN = [[0], [0, 0], [0, 0, 0]]


def per_token(plan):
    return [part.cache.per_token for part in plan.parts]


def test_target_and_draft_model_have_weights_and_cache():
    plan = plan_for(recipe(speculation=DRAFT), models(LLAMA_8B, draft=LLAMA_1B), H100)
    assert [part.role for part in plan.parts] == ["target", "draft model"]
    assert per_token(plan) == [131072, 32768]
    assert all(part.weights > 2 * 10**9 for part in plan.parts)


def test_a_head_of_one_layer_has_a_cache_too():
    plan = plan_for(
        recipe(speculation=EAGLE3), models(LLAMA_8B, drafter=EAGLE3_8B), H100
    )
    assert per_token(plan) == [131072, 4096]
    assert plan.parts[1].weights > 700 * 10**6


@pytest.mark.parametrize(
    ("version", "vanilla", "layers"),
    [
        ("1.0.0", False, 3),
        ("1.2.1", False, 3),
        (None, False, 3),
        ("1.3.0rc22", False, 1),
        ("1.3.0rc22", True, 3),
    ],
)
def test_next_token_heads_cache_what_the_release_gives_them(version, vanilla, layers):
    asked = recipe(speculation={**MTP, "vanilla": vanilla})
    plan = plan_for(asked, models(DEEPSEEK), H200, version and Version(version))
    assert per_token(plan) == [70272, layers * 576 * 2]


@pytest.mark.parametrize("method", ["ngram", "suffix"])
def test_methods_without_a_drafter_cost_nothing(method):
    plan = plan_for(
        recipe(speculation={"method": method, "draft_length": 4}),
        models(LLAMA_8B),
        H100,
    )
    assert [part.role for part in plan.parts] == ["target"]


@pytest.mark.parametrize(
    ("name", "kv_cache", "bits"),
    [
        (LLAMA_70B, "auto", 16),
        (LLAMA_70B, "fp8", 8),
        (LLAMA_70B, "nvfp4", 4.5),
        (LLAMA_70B_FP8, "auto", 8),
    ],
)
def test_the_cache_type_is_asked_for_or_published(name, kv_cache, bits):
    asked = recipe(pytorch={"kv_cache": kv_cache})
    (part,) = plan_for(asked, models(name), H200).parts
    assert part.cache.per_token == 327680 * bits / 16


@pytest.mark.parametrize(
    ("kv_cache", "quantization", "kind"),
    [
        ("auto", "none", "bfloat16"),
        ("auto", "fp8", "fp8"),
        ("auto", "int4_awq", "bfloat16"),
        ("int8", "none", "int8"),
    ],
)
def test_engines_cache_in_fp8_beside_fp8_weights(kv_cache, quantization, kind):
    asked = recipe(
        "tensorrt",
        target={"quantization": quantization},
        engine={"kv_cache": kv_cache},
    )
    (part,) = plan_for(asked, models(LLAMA_8B), H100).parts
    assert part.cache_type == kind


def test_the_draft_model_of_engines_lies_on_its_own_gpus():
    asked = recipe("tensorrt", target={"tensor_parallel": 4}, speculation=DRAFT)
    plan = plan_for(asked, models(LLAMA_70B, draft=LLAMA_1B), H100)
    assert plan.parts[1].weights > 2.4 * 10**9
    assert per_token(plan) == [81920, 32768]


def test_the_draft_model_of_backend_pytorch_is_spread_like_the_target():
    asked = recipe(target={"tensor_parallel": 4}, speculation=DRAFT)
    plan = plan_for(asked, models(LLAMA_70B, draft=LLAMA_1B), H100)
    assert per_token(plan) == [81920, 8192]
    assert plan.parts[1].weights < 0.7 * 10**9


def test_the_share_of_a_draft_engine_is_the_runners():
    asked = recipe("tensorrt", speculation=DRAFT)
    plan = plan_for(asked, models(LLAMA_8B, draft=LLAMA_1B), H100)
    assert plan.draft_share == ENGINE_DRAFT_SHARE
    alone = target_cache(asked, shared=False).fraction
    behind = target_cache(asked, shared=True).fraction
    # of what is free behind a draft engine that took its whole share
    assert behind * (1 - alone * plan.draft_share) == pytest.approx(
        alone * (1 - plan.draft_share)
    )


@pytest.mark.parametrize(
    "speculation",
    [
        {"method": "none"},
        {"method": "ngram", "draft_length": 4},
        {"method": "medusa", "model": "./head", "num_heads": 4, "tree": CHAIN},
        {"method": "eagle", "model": "./head", "num_layers": 3, "tree": CHAIN},
    ],
    ids=lambda speculation: speculation["method"],
)
def test_what_drafts_inside_the_targets_engine_has_no_pool_of_its_own(speculation):
    known = models(LLAMA_8B, drafter=EAGLE3_8B)
    plan = plan_for(recipe("tensorrt", speculation=speculation), known, H100)
    assert plan.tokens == plan.pool // plan.bytes_per_token
    assert plan.draft_share is None


@pytest.mark.parametrize(
    ("speculation", "step", "request_tokens"),
    [
        ({"method": "none"}, 1, 8192),
        (EAGLE3, 5, 8196),
        ({**EAGLE3, "tree": "dynamic", "tree_top_k": 4, "tree_tokens": 12}, 13, 8204),
        ({"method": "pard", "model": "./draft", "draft_length": 4}, 8, 8196),
    ],
)
def test_a_step_counts_its_drafts(speculation, step, request_tokens):
    plan = plan_for(recipe(speculation=speculation), models(LLAMA_8B), H100)
    assert (plan.step_tokens, plan.request_tokens) == (step, request_tokens)


def test_what_the_recipe_says_in_tensorrt_llms_words_counts():
    given = {"max_tokens": 4096}
    asked = recipe(pytorch={"llm_args": {"kv_cache_config": given}})
    assert plan_for(asked, models(LLAMA_8B), H100).tokens == 4096


@pytest.mark.parametrize(
    "given", [{"max_tokens": True}, {"free_gpu_memory_fraction": 0.5}, "none", []]
)
def test_what_makes_no_sense_there_is_left_to_its_own_rule(given):
    asked = recipe(pytorch={"llm_args": {"kv_cache_config": given}})
    plain = plan_for(recipe(), models(LLAMA_8B), H100)
    assert plan_for(asked, models(LLAMA_8B), H100) == plain


def test_windows_are_kept_where_the_recipe_gives_them():
    given = {"kv_cache_config": {"max_attention_window": [128, 8192]}}
    plain = plan_for(recipe(), models(GPT_OSS), H100)
    kept = plan_for(recipe(pytorch={"llm_args": given}), models(GPT_OSS), H100)
    assert kept.requests > 1.9 * plain.requests
    assert any("window" in text for text in plain.assumptions)
    assert not any("window" in text for text in kept.assumptions)


def test_attention_data_parallelism_has_a_cache_per_gpu():
    asked = recipe(target={"tensor_parallel": 8}, pytorch={"attention_dp": True})
    plan = plan_for(asked, models(LLAMA_70B), H100)
    assert plan.replicas == 8
    assert per_token(plan) == [327680]
    assert any("attention_dp" in text for text in plan.assumptions)


def test_the_reserve_is_called_an_assumption():
    plan = plan_for(recipe(), models(LLAMA_8B), H100)
    assert plan.reserve > 1 << 30
    assert plan.assumptions[0].startswith("reserve assumed")


@pytest.mark.parametrize(
    "changes",
    [
        {"pytorch": {"max_num_tokens": 32768}},
        {"limits": {"max_batch_size": 512}, "speculation": EAGLE3},
    ],
)
def test_a_larger_forward_needs_a_larger_reserve(changes):
    plain = plan_for(recipe(), models(LLAMA_8B), H100)
    assert plan_for(recipe(**changes), models(LLAMA_8B), H100).reserve > plain.reserve


def test_without_graphs_nothing_is_kept_for_them():
    bare = recipe(pytorch={"cuda_graphs": False})
    with_graphs = plan_for(recipe(), models(LLAMA_8B), H100).reserve
    assert with_graphs - plan_for(bare, models(LLAMA_8B), H100).reserve == 1 << 29


def test_the_off_arm_has_no_drafter():
    off = without_speculation(recipe(speculation=DRAFT))
    plan = plan_for(off, models(LLAMA_8B, draft=LLAMA_1B), H100)
    assert len(plan.parts) == 1

"""Bytes of KV cache per token: those that are published, divided and repeated."""

from dataclasses import replace

import pytest

from tests.check.memory.builders import DEEPSEEK, GPT_OSS, LLAMA_70B, target
from tests.models.public import TARGETS
from trtspec.check.memory.cache import Cache, layer_bytes, model_cache
from trtspec.check.memory.parallel import Parallel

MLA = (512 + 64) * 2 * 61
PUBLISHED = {
    "meta-llama/Llama-3.1-8B": 131072,
    "meta-llama/Llama-3.1-70B": 327680,
    "meta-llama/Llama-3.2-1B": 32768,
    "deepseek-ai/DeepSeek-V3": MLA,
    "deepseek-ai/DeepSeek-R1": MLA,
    "Qwen/Qwen3-8B": 2 * 36 * 8 * 128 * 2,
    "Qwen/Qwen3-32B": 2 * 64 * 8 * 128 * 2,
    "Qwen/Qwen3-0.6B": 2 * 28 * 8 * 128 * 2,
    "openai/gpt-oss-120b": 2 * 36 * 8 * 64 * 2,
    "openai/gpt-oss-20b": 2 * 24 * 8 * 64 * 2,
    "lmsys/vicuna-7b-v1.3": 2 * 32 * 32 * 128 * 2,
    "mistralai/Mixtral-8x7B-v0.1": 2 * 32 * 8 * 128 * 2,
}


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_a_published_model_takes_what_is_published(name):
    cache = model_cache(target(name), "bfloat16", Parallel())
    assert cache.per_token == PUBLISHED[name]


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_every_public_target_has_the_figure_of_its_record(name):
    cache = model_cache(target(name), "bfloat16", Parallel())
    assert cache.per_token == TARGETS[name]["kv_bytes_per_token"]


@pytest.mark.parametrize(
    ("dtype", "share"), [("float32", 2), ("fp8", 0.5), ("int8", 0.5), ("nvfp4", 9 / 32)]
)
def test_the_cache_type_decides(dtype, share):
    cache = model_cache(target(LLAMA_70B), dtype, Parallel())
    assert cache.per_token == 327680 * share


@pytest.mark.parametrize(
    ("size", "bytes_"), [(1, 327680), (2, 163840), (8, 40960), (16, 40960), (64, 40960)]
)
def test_heads_are_shared_and_then_repeated(size, bytes_):
    cache = model_cache(target(LLAMA_70B), "bfloat16", Parallel(size))
    assert cache.per_token == bytes_


@pytest.mark.parametrize("size", [1, 8, 16])
def test_a_latent_is_whole_on_every_gpu(size):
    assert model_cache(target(DEEPSEEK), "bfloat16", Parallel(size)).per_token == MLA


def test_a_pipeline_shares_the_layers():
    halves = model_cache(target(LLAMA_70B), "bfloat16", Parallel(1, 2))
    thirds = model_cache(target(LLAMA_70B), "bfloat16", Parallel(1, 3))
    assert (halves.per_token, thirds.per_token) == (40 * 4096, 27 * 4096)


def test_attention_data_parallelism_keeps_all_heads():
    cache = model_cache(target(LLAMA_70B), "bfloat16", Parallel(8, attention_dp=True))
    assert cache.per_token == 327680


def test_windows_bound_what_half_of_the_layers_keep():
    cache = model_cache(target(GPT_OSS), "bfloat16", Parallel(), keeps_windows=True)
    half = 18 * 2 * 8 * 64 * 2
    assert cache == Cache(half, half, 128)
    assert cache.of_request(8192) == half * (8192 + 128)
    assert cache.of_request(100) == half * 200


def test_windows_that_nobody_keeps_bound_nothing():
    cache = model_cache(target(GPT_OSS), "bfloat16", Parallel())
    assert cache.of_request(8192) == 73728 * 8192


def test_further_layers_are_like_the_models_own():
    cache = model_cache(target(DEEPSEEK), "bfloat16", Parallel(8), layers=3)
    assert cache.per_token == 3 * 576 * 2


@pytest.mark.parametrize(
    ("heads", "shares", "kept"), [(8, 3, 3), (1, 8, 1), (5, 2, 3), (0, 1, 0)]
)
def test_a_gpu_has_whole_heads(heads, shares, kept):
    assert layer_bytes(heads, 64, "bfloat16", Parallel(shares)) == kept * 64 * 4


def test_layers_that_only_other_keys_tell_count_too():
    known = target(LLAMA_70B)
    shape = replace(
        known,
        layer_types=(),
        implied_kinds=("linear_attention",) * 60 + ("sliding_attention",) * 20,
        sliding_window=128,
    )
    each = 4096
    whole = model_cache(shape, "bfloat16", Parallel())
    assert whole.per_token == 20 * each
    kept = model_cache(shape, "bfloat16", Parallel(), keeps_windows=True)
    assert kept == Cache(0, 20 * each, 128)

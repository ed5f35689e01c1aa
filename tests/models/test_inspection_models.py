"""What inspect says of target models: quantization, next-token layers, KV cache."""

import json

import pytest

from tests.models.heads import LLAMA_8B, layer, write_target
from tests.models.large import (
    CONFIG,
    HEAD,
    KV_HEADS,
    LAYERS,
    PARAMETERS,
    SHARDS,
    write_headers,
    write_llama_70b,
)
from tests.models.test_inspection import facts, said
from trtspec.methods.catalogue import PLACES
from trtspec.models.inspection import inspect
from trtspec.models.inspection_services import services

WIDTH, INNER = 64, 128
SMALL = {
    **LLAMA_8B,
    "hidden_size": WIDTH,
    "intermediate_size": INNER,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 100,
}
EXTRA = {"eh_proj": (WIDTH, 2 * WIDTH), "enorm": (WIDTH,), "hnorm": (WIDTH,)}


def weights(*, quantized=(), scale="weight_scale_inv", dtype="F8_E4M3", heads=0):
    """Name a small model's tensors; parts with these prefixes are quantized."""
    tensors = {
        "model.embed_tokens.weight": (100, WIDTH),
        "lm_head.weight": (100, WIDTH),
    }
    for number in range(2 + heads):
        tensors |= layer(f"model.layers.{number}.", WIDTH, INNER, keys=32)
    for number in range(2, 2 + heads):
        named = {f"model.layers.{number}.{n}.weight": s for n, s in EXTRA.items()}
        tensors |= {**named, f"model.layers.{number}.shared_head.norm.weight": (WIDTH,)}
    tensors["model.norm.weight"] = (WIDTH,)
    for name in [n for n in tensors if quantized and n.startswith(quantized)]:
        if len(tensors[name]) == 2:
            base = name.removesuffix("weight")
            tensors[f"{base}{scale}"] = ("F32", (1, 1))
            tensors[name] = (dtype, tensors[name])
    return tensors


def quantization(directory, section, **arguments):
    config = {**SMALL, "quantization_config": section}
    found = inspect(write_headers(directory, config, weights(**arguments)))
    assert found.problems == ()
    return facts(found)["quantization"]


LAYER_WEIGHTS = ("model.layers.",)
SECTIONS = {
    "blocks of FP8 (DeepSeek-V3)": (
        {"quant_method": "fp8", "weight_block_size": [128, 128]},
        {},
        ("fp8", (128, 128), None, False),
    ),
    "AWQ": (
        {"quant_method": "awq", "bits": 4, "group_size": 128},
        {"scale": "scales", "dtype": "I32"},
        ("awq", 128, None, False),
    ),
    "GPTQ": (
        {"quant_method": "gptq", "bits": 8, "group_size": 32, "desc_act": False},
        {"scale": "qzeros", "dtype": "I32"},
        ("gptq", 32, None, False),
    ),
    "ModelOpt NVFP4 with an FP8 cache": (
        {
            "quant_method": "modelopt",
            "quant_algo": "NVFP4",
            "group_size": 16,
            "kv_cache_quant_algo": "FP8",
            "exclude_modules": ["lm_head"],
        },
        {"scale": "weight_scale", "dtype": "U8"},
        ("nvfp4", 16, "fp8", False),
    ),
    "compressed-tensors with an FP8 cache": (
        {
            "quant_method": "compressed-tensors",
            "config_groups": {
                "group_0": {"weights": {"num_bits": 4, "group_size": 64}}
            },
            "kv_cache_scheme": {"num_bits": 8, "type": "float"},
            "ignore": ["lm_head"],
        },
        {"scale": "weight_scale", "dtype": "U8"},
        ("compressed-tensors", 64, "fp8", False),
    ),
}


@pytest.mark.parametrize("case", SECTIONS)
def test_method_group_size_and_cache_type_are_told(tmp_path, case):
    section, stored, (method, group, cache, lm_head) = SECTIONS[case]
    found = quantization(tmp_path, section, quantized=LAYER_WEIGHTS, **stored)
    assert (found["method"], found["group_size"]) == (method, group)
    assert (found["kv_cache"], found["lm_head"]) == (cache, lm_head)


def test_a_quantized_lm_head_is_told_whatever_the_list_of_exceptions_says(tmp_path):
    section = {"quant_method": "fp8", "modules_to_not_convert": ["lm_head"]}
    found = quantization(tmp_path, section, quantized=("model.layers.", "lm_head"))
    assert found["lm_head"] is True
    assert found["exceptions"] == ("lm_head",)


def test_what_modelopt_writes_beside_counts(tmp_path):
    beside = {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8", "group_size": 128}
    write_headers(tmp_path, SMALL, weights(quantized=LAYER_WEIGHTS))
    (tmp_path / "hf_quant_config.json").write_text(json.dumps({"quantization": beside}))
    found = facts(inspect(tmp_path))["quantization"]
    assert (found["method"], found["kv_cache"]) == ("fp8", "fp8")
    assert found["group_size"] == 128


def test_a_damaged_modelopt_file_is_a_problem(tmp_path):
    write_headers(tmp_path, SMALL, weights())
    (tmp_path / "hf_quant_config.json").write_text("{")
    found = inspect(tmp_path)
    assert any("not valid JSON" in problem.what for problem in found.problems)
    assert facts(found)["weights"]["tensors"] == len(weights())


@pytest.mark.parametrize(
    ("dtype", "packed", "bits"), [("I32", 8, 4), ("I32", 4, 8), ("U8", 2, 4)]
)
def test_packed_weights_count_as_many_as_they_hold(tmp_path, dtype, packed, bits):
    name = "qweight" if dtype == "I32" else "weight_packed"
    tensors = {f"model.layers.0.mlp.{name}": (dtype, (10, 6)), "a.scales": (10, 1)}
    section = {"quant_method": "gptq", "bits": bits}
    config = {**SMALL, "quantization_config": section}
    found = inspect(write_headers(tmp_path, config, tensors))
    assert facts(found)["parameters"] == 60 * packed


@pytest.mark.parametrize("heads", [1, 3])
@pytest.mark.parametrize("packed", [True, False])
def test_next_token_layers_are_counted_and_held_against_the_quantized_set(
    tmp_path, heads, packed
):
    """Kind model coverage: does it contain such layers, how many, quantized or not."""
    quantized = ("model.layers.",) if packed else ("model.layers.0.", "model.layers.1.")
    config = {
        **SMALL,
        "num_nextn_predict_layers": heads,
        "quantization_config": {"quant_method": "fp8"},
    }
    tensors = weights(quantized=quantized, heads=heads)
    found = inspect(write_headers(tmp_path, config, tensors))
    assert found.problems == ()
    assert facts(found)["next_token_layers"] == {
        "stored": heads,
        "configured": heads,
        "quantized": packed,
        "missing": [],
        "left_over": [],
    }
    assert "mtp" in [service.method for service in services(found, PLACES)]


def test_a_next_token_layer_without_a_part_is_told_and_no_fault_of_the_model(tmp_path):
    tensors = weights(heads=1)
    del tensors["model.layers.2.enorm.weight"]
    config = {**SMALL, "num_nextn_predict_layers": 1}
    found = inspect(write_headers(tmp_path, config, tensors))
    assert found.problems == ()
    assert facts(found)["next_token_layers"]["missing"] == ["model.layers.2.enorm"]
    assert "they lack model.layers.2.enorm" in said(found)["next_token_layers"]


def test_next_token_layers_that_were_stripped_are_told(tmp_path):
    config = {**SMALL, "num_nextn_predict_layers": 1}
    found = inspect(write_headers(tmp_path, config, weights()))
    assert "0 stored, config.json says 1" in said(found)["next_token_layers"]
    assert "mtp" not in [service.method for service in services(found, PLACES)]


def test_next_token_layers_beside_the_model_are_counted(tmp_path):
    block = layer("mtp.layers.0.", WIDTH, INNER, keys=32)
    norms = ("mtp.norm", "mtp.pre_fc_norm_embedding", "mtp.pre_fc_norm_hidden")
    tensors = weights() | block | {f"{name}.weight": (WIDTH,) for name in norms}
    tensors["mtp.fc.weight"] = (WIDTH, 2 * WIDTH)
    found = inspect(write_headers(tmp_path, SMALL, tensors))
    assert found.problems == ()
    assert facts(found)["next_token_layers"]["stored"] == 1


def test_a_model_without_next_token_layers_says_nothing_of_them(tmp_path):
    assert "next_token_layers" not in facts(inspect(write_target(tmp_path)))


def test_latent_attention_caches_its_latent(tmp_path):
    """DeepSeek-V3: 512 + 64 values per token and layer, in 61 layers of 2 bytes."""
    latent = {"kv_lora_rank": 512, "qk_rope_head_dim": 64, "num_hidden_layers": 61}
    tensors = {"model.embed_tokens.weight": (100, WIDTH)}
    found = inspect(write_headers(tmp_path, {**SMALL, **latent}, tensors))
    assert facts(found)["kv_bytes_per_token"]["bfloat16"] == 61 * 576 * 2


def test_layers_with_a_recurrent_state_cache_nothing_per_token(tmp_path):
    types = ["linear_attention", "full_attention"]
    config = {**SMALL, "layer_types": types}
    found = inspect(write_headers(tmp_path, config, weights()))
    assert facts(found)["kv_bytes_per_token"]["bfloat16"] == 2 * 2 * 16 * 2
    assert "1 full_attention, 1 linear_attention" in said(found)["layers"]
    assert "1 of 2 layers cache nothing" in said(found)["kv_bytes_per_token"]


def test_a_hybrid_model_that_lists_no_kinds_is_told_by_its_interval(tmp_path):
    config = {**SMALL, "model_type": "qwen3_next", "full_attention_interval": 2}
    found = inspect(write_headers(tmp_path, config, weights()))
    assert facts(found)["kv_bytes_per_token"]["bfloat16"] == 2 * 2 * 16 * 2
    assert "1 full_attention, 1 linear_attention" in said(found)["layers"]


def test_what_a_window_spares_is_told_beside_the_whole(tmp_path):
    types = ["sliding_attention", "full_attention"]
    config = {**SMALL, "layer_types": types, "sliding_window": 32}
    found = inspect(write_headers(tmp_path, config, weights()))
    each = 2 * 2 * 16 * 2
    assert facts(found)["kv_bytes_per_token"]["bfloat16"] == 2 * each
    assert facts(found)["kv_bytes_beyond_window"] == {
        "bfloat16": each,
        "fp8": each // 2,
    }
    assert "each token beyond 32" in said(found)["kv_bytes_beyond_window"]


def runs_on(found, method, role, **scope):
    """Backends on which a model serves, and why backend tensorrt does not."""
    families = {"none": {"llama"}, "medusa": set(), "draft_target": {"llama", "qwen2"}}
    (service,) = [
        service
        for service in services(found, PLACES, families, **scope)
        if (service.method, service.role) == (method, role)
    ]
    where = {standing.place.backend for standing in service.standings if standing.runs}
    return "tensorrt" in where, service.unread.get("tensorrt", "")


def test_a_family_that_is_not_built_serves_no_engine(tmp_path):
    inside = {"llama": True, "gemma3_text": False}
    for family, built in inside.items():
        config = {**SMALL, "model_type": family}
        found = inspect(write_headers(tmp_path / family, config, weights()))
        runs, why = runs_on(found, "draft_target", "drafter")
        assert runs is built
        if not built:
            assert "draft models are not established for the family gemma3_text" in why
            assert why.endswith("but for llama")


def test_a_target_that_is_not_built_leaves_its_drafter_no_engine(tmp_path):
    found = inspect(write_headers(tmp_path / "draft", SMALL, weights()))
    for family, built in {"qwen2": True, "gemma3_text": False}.items():
        config = {**SMALL, "model_type": family}
        target = inspect(write_headers(tmp_path / family, config, weights()))
        runs, why = runs_on(found, "draft_target", "drafter", target=target)
        assert runs is built
        if not built:
            assert "draft_target is not established for the family" in why


def test_a_sharded_70b_checkpoint_is_told_from_its_headers(tmp_path):
    found = inspect(write_llama_70b(tmp_path))
    assert found.problems == ()
    known = facts(found)
    assert known["parameters"] == PARAMETERS
    assert known["bytes"] == 2 * PARAMETERS
    assert known["kv_bytes_per_token"]["bfloat16"] == 4 * LAYERS * KV_HEADS * HEAD
    assert len(known["weights"]["files"]) == SHARDS
    assert known["context"]["tokens"] == CONFIG["max_position_embeddings"]

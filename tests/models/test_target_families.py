"""Targets of TensorRT-LLM's newer families are described like any other."""

import pytest

from tests.models.tiny import tensors, write_checkpoint
from trtspec.models.describe import describe

QWEN3 = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "sliding_window": None,
    "use_sliding_window": False,
    "head_dim": 4,
}
DEEPSEEK = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "kv_lora_rank": 6,
    "qk_rope_head_dim": 2,
    "num_nextn_predict_layers": 1,
    "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
    "auto_map": {"AutoConfig": "configuration_deepseek.DeepseekV3Config"},
}
GPT_OSS = {
    "architectures": ["GptOssForCausalLM"],
    "model_type": "gpt_oss",
    "sliding_window": 8,
    "layer_types": ["sliding_attention", "full_attention"],
    "quantization_config": {"quant_method": "mxfp4"},
}
NEMOTRON = {
    "architectures": ["NemotronForCausalLM"],
    "model_type": "nemotron",
    "quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"},
}


@pytest.mark.parametrize("config", [QWEN3, DEEPSEEK, GPT_OSS, NEMOTRON])
def test_the_family_is_described(tmp_path, config):
    info = describe(write_checkpoint(tmp_path, **config))
    assert info.family == config["model_type"]
    assert info.architecture == config["architectures"][0]


def test_deepseek_has_mla_a_head_for_further_tokens_and_blocks_of_fp8(tmp_path):
    extra = {"model.layers.2.eh_proj.weight": (8, 16)}
    info = describe(write_checkpoint(tmp_path, weights=tensors(**extra), **DEEPSEEK))
    assert (info.layers, info.next_token_heads) == (2, 1)
    assert info.latent_size == 8
    assert (info.quantization, info.published_quantization) == ("fp8", None)
    assert info.own_code == "deepseek_v3"


def test_gpt_oss_has_windows_and_mxfp4(tmp_path):
    info = describe(write_checkpoint(tmp_path, **GPT_OSS))
    assert (info.sliding_window, info.latent_size) == (8, None)
    assert (info.quantization, info.published_quantization) == ("mxfp4", None)


def test_plain_weights_are_published_as_none(tmp_path):
    info = describe(write_checkpoint(tmp_path, **QWEN3))
    assert (info.published_quantization, info.next_token_heads) == ("none", 0)
    assert (info.sliding_window, info.mask_token) == (None, None)


def test_modelopts_algorithm_is_told_in_a_recipes_word(tmp_path):
    info = describe(write_checkpoint(tmp_path, **NEMOTRON))
    assert (info.quantization, info.published_quantization) == ("nvfp4", "nvfp4")


def test_a_pard_draft_model_names_its_mask_token(tmp_path):
    assert describe(write_checkpoint(tmp_path, pard_token=15)).mask_token == 15

"""Directories that TensorRT-LLM wrote are told: version, mode, draft capacity."""

import json

import pytest

from trtspec.trtllm import facts
from trtspec.trtllm.engine.inspection import inspect_tensorrt

MODEL = {
    "architecture": "MedusaForCausalLM",
    "dtype": "float16",
    "vocab_size": 32000,
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_medusa_heads": 4,
    "max_draft_len": 63,
    "mapping": {"world_size": 2, "tp_size": 2, "pp_size": 1},
    "quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"},
}
BUILD = {
    "max_batch_size": 8,
    "max_input_len": 1024,
    "max_seq_len": 2048,
    "max_num_tokens": 8192,
    "max_beam_width": 1,
    "max_draft_len": 63,
}


def write(directory, config, files=()):
    (directory / "config.json").write_text(json.dumps(config))
    for name in files:
        (directory / name).write_bytes(b"x")
    return inspect_tensorrt(directory)


def engine(mode):
    bits = facts.modes()[mode]
    built = {**BUILD, "speculative_decoding_mode": bits}
    model = dict(MODEL)
    return {"version": "0.21.0", "pretrained_config": model, "build_config": built}


def told(found):
    return {fact.key: fact.value for fact in found.facts}


RANKS = ("rank0.engine", "rank1.engine")


@pytest.mark.parametrize("mode", facts.modes())
def test_an_engine_says_version_mode_and_draft_capacity(tmp_path, mode):
    found = write(tmp_path, engine(mode), RANKS)
    assert (found.title, found.problems) == ("TensorRT-LLM engine", ())
    known = told(found)
    assert known["version"] == "0.21.0"
    assert known["speculation"] == {"mode": mode, "bits": facts.modes()[mode]}
    assert known["draft_capacity"] == 63
    assert known["quantization"] == {"weights": "FP8", "kv_cache": "FP8"}
    assert known["limits"]["requests"] == 8
    assert known["num_medusa_heads"] == 4


def test_an_engine_without_drafts_says_so(tmp_path):
    config = engine("none")
    config["build_config"]["max_draft_len"] = 0
    del config["pretrained_config"]["max_draft_len"]
    found = write(tmp_path, config, RANKS)
    text = {fact.key: fact.text for fact in found.facts}["draft_capacity"]
    assert text == "none: built without drafts"


def test_a_mode_that_nobody_knows_is_shown_as_its_number(tmp_path):
    config = engine("none")
    config["build_config"]["speculative_decoding_mode"] = 4096
    assert "4096" in told(write(tmp_path, config, RANKS))["speculation"]["mode"]


def test_a_rank_without_its_engine_is_a_problem(tmp_path):
    found = write(tmp_path, engine("medusa"), RANKS[:1])
    (problem,) = found.problems
    assert "first rank1.engine" in problem.what
    assert told(found)["weights"]["missing"] == ["rank1.engine"]


def test_a_checkpoint_to_build_of_is_told(tmp_path):
    found = write(tmp_path, {**MODEL, "version": "0.21.0"}, ["rank0.safetensors"])
    assert found.title.startswith("TensorRT-LLM checkpoint")
    known = told(found)
    assert known["architecture"] == "MedusaForCausalLM"
    assert (known["num_medusa_heads"], known["max_draft_len"]) == (4, 63)
    assert known["weights"]["missing"] == ["rank1.safetensors"]


@pytest.mark.parametrize(
    "config", [{}, {"architectures": ["LlamaForCausalLM"]}, {"pretrained_config": 1}]
)
def test_what_is_not_of_tensorrt_llm_is_left_to_others(tmp_path, config):
    assert write(tmp_path, config) is None

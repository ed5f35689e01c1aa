"""What the convert scripts write and refuse."""

import json

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from tests.models.tiny import tensors, write_checkpoint, write_config, write_sharded
from tests.standins.samples import (
    make_bench,
    succeeded,
    write_eagle,
    write_medusa,
    write_qwen,
    write_redrafter,
)
from trtspec.trtllm import facts


@pytest.fixture
def bench(tmp_path):
    return make_bench(tmp_path)


@pytest.fixture
def hf(tmp_path):
    return write_checkpoint(tmp_path / "hf")


@pytest.fixture
def qwen(tmp_path):
    return write_qwen(tmp_path / "qwen")


def refused(done, message):
    assert done.returncode == 1
    assert message in done.stderr


def metadata(path):
    with safe_open(path, framework="np") as file:
        return file.metadata()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_weights_are_cast_as_torch_casts_them(bench, hf, tmp_path, dtype):
    succeeded(
        bench.script(
            "llama", "--model_dir", hf, "--dtype", dtype, "--output_dir", "out"
        )
    )
    written = load_file(tmp_path / "out" / "rank0.safetensors")
    for name, tensor in tensors().items():
        expected = torch.from_numpy(tensor).to(getattr(torch, dtype))
        assert torch.equal(written[name], expected), name
    assert bench.config("out")["dtype"] == dtype


@pytest.mark.parametrize(
    ("source", "inferred"),
    [("bfloat16", "bfloat16"), ("float32", "float16"), (None, "float16")],
)
def test_dtype_auto_follows_the_source_but_never_float32(
    bench, tmp_path, source, inferred
):
    hf = write_checkpoint(tmp_path / "hf", torch_dtype=source)
    succeeded(bench.script("llama", "--model_dir", hf, "--output_dir", "out"))
    assert bench.config("out")["dtype"] == inferred


def test_config_carries_the_shape_and_the_mapping(bench, hf, tmp_path):
    bench.convert_plain(hf, "out", "--tp_size", "1", "--pp_size", "2")
    config = bench.config("out")
    assert config["architecture"] == "LlamaForCausalLM"
    assert (config["hidden_size"], config["num_key_value_heads"]) == (8, 1)
    assert config["mapping"]["world_size"] == 2
    assert (tmp_path / "out" / "rank1.safetensors").is_file()
    stored = metadata(tmp_path / "out" / "rank0.safetensors")
    assert json.loads(stored["hf_config"])["model_type"] == "llama"
    (made,) = json.loads(stored["made_by"])
    assert made["arguments"]["pp_size"] == 2


def test_sharded_and_pickled_weights_are_read(bench, tmp_path):
    sharded = write_sharded(tmp_path / "sharded")
    pickled = tmp_path / "pickled"
    write_config(pickled)
    weights = {name: torch.from_numpy(t) for name, t in tensors().items()}
    torch.save(weights, pickled / "pytorch_model.bin")
    bench.convert_plain(sharded, "a")
    bench.convert_plain(pickled, "b")
    a, b = (load_file(tmp_path / name / "rank0.safetensors") for name in "ab")
    assert set(a) == set(b) == set(weights)
    assert all(torch.equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize(
    ("flags", "algorithm", "kv_cache"),
    [
        (("--use_weight_only",), "W8A16", None),
        (("--use_weight_only", "--weight_only_precision", "int4"), "W4A16", None),
        (("--int8_kv_cache",), None, "INT8"),
        (
            ("--smoothquant", "0.5", "--per_channel", "--per_token"),
            "W8A8_SQ_PER_CHANNEL_PER_TOKEN_PLUGIN",
            None,
        ),
    ],
)
def test_quantizing_flags_show_in_the_config(bench, hf, flags, algorithm, kv_cache):
    bench.convert_plain(hf, "out", *flags)
    assert bench.config("out")["quantization"] == {
        "quant_algo": algorithm,
        "kv_cache_quant_algo": kv_cache,
    }


def test_each_family_has_its_script(bench, hf, qwen):
    refused(bench.script("llama", "--model_dir", qwen), "Unsupported architecture")
    refused(bench.script("qwen", "--model_dir", hf), "Unsupported architecture")
    succeeded(bench.script("qwen", "--model_dir", qwen, "--output_dir", "out"))
    assert bench.config("out")["architecture"] == "Qwen2ForCausalLM"


def test_heads_must_divide(bench, hf):
    refused(bench.script("llama", "--model_dir", hf, "--tp_size", "3"), "num_attention")


def medusa(bench, hf, heads, *flags):
    given = ("--model_dir", hf, "--medusa_model_dir", heads, "--output_dir", "out")
    return bench.script("medusa", *given, *flags)


@pytest.mark.parametrize("prefix", ["", "medusa_heads."])
def test_medusa_writes_its_keys(bench, hf, tmp_path, prefix):
    heads = write_medusa(tmp_path / "heads", 4, prefix)
    flags = ("--num_medusa_heads", "3", "--max_medusa_token_len", "40")
    succeeded(medusa(bench, hf, heads, *flags))
    config = bench.config("out")
    assert config["architecture"] == "MedusaForCausalLM"
    assert (config["num_medusa_heads"], config["max_draft_len"]) == (3, 40)
    assert set(facts.architectures()["medusa"].keys) <= set(config)


def test_medusa_needs_the_heads_that_it_is_asked_for(bench, hf, tmp_path):
    heads = write_medusa(tmp_path / "heads", 2)
    refused(medusa(bench, hf, heads), "KeyError: '2.0.linear.weight'")


def test_medusa_needs_the_model_type_of_its_base(bench, qwen, tmp_path):
    heads = write_medusa(tmp_path / "heads")
    refused(medusa(bench, qwen, heads), "Unsupported architecture")
    succeeded(medusa(bench, qwen, heads, "--model_type", "qwen2"))


def test_medusa_without_heads_needs_a_modelopt_checkpoint(bench, hf):
    refused(bench.script("medusa", "--model_dir", hf), "ModelOpt")
    produced = {"producer": {"name": "modelopt"}}
    (hf / "hf_quant_config.json").write_text(json.dumps(produced))
    succeeded(bench.script("medusa", "--model_dir", hf))


def eagle(bench, hf, head, *flags):
    given = ("--model_dir", hf, "--eagle_model_dir", head, "--output_dir", "out")
    return bench.script("eagle", *given, *flags)


def test_eagle_writes_its_keys(bench, hf, tmp_path):
    head = write_eagle(tmp_path / "head")
    flags = ("--max_draft_len", "30", "--num_eagle_layers", "3")
    succeeded(eagle(bench, hf, head, *flags, "--max_non_leaves_per_layer", "5"))
    config = bench.config("out")
    assert config["architecture"] == "EagleForCausalLM"
    assert (config["max_draft_len"], config["num_eagle_layers"]) == (30, 3)
    assert config["max_non_leaves_per_layer"] == 5
    assert set(facts.architectures()["eagle"].keys) <= set(config)


def test_eagle_refuses_what_it_does_not_support(bench, hf, qwen, tmp_path):
    head = write_eagle(tmp_path / "head")
    bare = write_eagle(tmp_path / "bare", bias=False)
    refused(eagle(bench, hf, bare), "KeyError: 'fc.bias'")
    refused(eagle(bench, qwen, head), "Unsupported architecture")
    refused(eagle(bench, hf, head, "--max_draft_len", "257"), "must be <= 256")
    refused(eagle(bench, hf, head, "--pp_size", "2"), "pipeline")


def redrafter_flags(tmp_path):
    drafter = write_redrafter(tmp_path / "drafter")
    return ("--drafter_model_dir", drafter, "--output_dir", "out", "--dtype", "float32")


def test_redrafter_takes_two_steps_in_late_versions(bench, hf, tmp_path):
    bench.convert_plain(hf, "base")
    flags = (*redrafter_flags(tmp_path), "--redrafter_num_beams", "2")
    given = ("--base_model_checkpoint_dir", "base")
    succeeded(bench.script("redrafter", *given, *flags, "--redrafter_no_greedy_search"))
    config = bench.config("out")
    assert config["architecture"] == "ReDrafterForLLaMALM"
    assert config["base_model_architecture"] == "LlamaForCausalLM"
    assert (config["redrafter_num_beams"], config["redrafter_greedy_search"]) == (
        2,
        False,
    )
    assert (tmp_path / "out" / "rank0.safetensors").is_file()
    refused(bench.script("redrafter", *given, *flags, "--tp_size", "2"), "tp_size")


def test_redrafter_takes_one_step_in_early_versions(hf, tmp_path):
    bench = make_bench(tmp_path, "0.20.0")
    flags = redrafter_flags(tmp_path)
    succeeded(bench.script("redrafter", "--model_dir", hf, *flags))
    config = bench.config("out")
    assert config["architecture"] == "ReDrafterForCausalLM"
    assert config["redrafter_greedy_search"] is True


@pytest.mark.parametrize(("version", "works"), [("0.18.2", False), ("0.19.0", True)])
def test_smoothquant_fails_on_a_tied_head_before_it_was_repaired(
    hf, tmp_path, version, works
):
    bench = make_bench(tmp_path, version)
    done = bench.script("llama", "--model_dir", hf, "--smoothquant", "0.5")
    assert (done.returncode == 0) is works
    assert works or "KeyError: 'lm_head.weight'" in done.stderr


def test_missing_weights_are_noticed(bench, tmp_path):
    write_config(tmp_path / "empty")
    refused(bench.script("llama", "--model_dir", tmp_path / "empty"), "no weights")

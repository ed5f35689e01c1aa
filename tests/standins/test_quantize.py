"""What quantize.py writes and refuses."""

import pytest

from tests.models.tiny import write_checkpoint
from tests.standins.samples import make_bench, succeeded, write_medusa


@pytest.fixture
def bench(tmp_path):
    return make_bench(tmp_path)


@pytest.fixture
def given(tmp_path):
    hf = write_checkpoint(tmp_path / "hf")
    return ("--model_dir", hf, "--dtype", "float16", "--output_dir", "out")


@pytest.mark.parametrize(
    ("qformat", "algorithm"),
    [
        ("fp8", "FP8"),
        ("int4_awq", "W4A16_AWQ"),
        ("int8_sq", "W8A8_SQ_PER_CHANNEL"),
        ("int8_wo", "W8A16"),
        ("full_prec", None),
    ],
)
def test_the_format_shows_in_the_config(bench, given, qformat, algorithm):
    succeeded(bench.script("quantize", *given, "--qformat", qformat))
    assert bench.config("out")["quantization"]["quant_algo"] == algorithm


@pytest.mark.parametrize("kv_cache", ["int8", "fp8"])
def test_the_kv_cache_shows_in_the_config(bench, given, kv_cache):
    succeeded(bench.script("quantize", *given, "--kv_cache_dtype", kv_cache))
    found = bench.config("out")["quantization"]
    assert found["kv_cache_quant_algo"] == kv_cache.upper()


@pytest.mark.parametrize(
    ("qformat", "capability", "works"),
    [("fp8", "8.9", True), ("fp8", "8.0", False), ("nvfp4", "9.0", False)],
)
def test_a_format_needs_a_new_enough_gpu(bench, given, qformat, capability, works):
    done = bench.script(
        "quantize", *given, "--qformat", qformat, STANDIN_GPU_CC=capability
    )
    assert (done.returncode == 0) == works
    assert works or "compute capability" in done.stderr


def test_medusa_heads_can_come_along(bench, given, tmp_path):
    heads = write_medusa(tmp_path / "heads")
    flags = ("--medusa_model_dir", heads, "--max_draft_len", "20", "--qformat", "fp8")
    succeeded(bench.script("quantize", *given, *flags))
    config = bench.config("out")
    assert config["architecture"] == "MedusaForCausalLM"
    assert (config["max_draft_len"], config["num_medusa_heads"]) == (20, 4)
    assert config["quantization"]["quant_algo"] == "FP8"

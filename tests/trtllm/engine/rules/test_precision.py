"""Types of weights and KV cache that are not there, or that break the method."""

import pytest

from tests.trtllm.engine.rules.findings import findings, on_gpu, only
from tests.trtllm.engine.samples import VERSIONS, recipe
from trtspec.trtllm.engine.rules.precision import (
    documented_type,
    format_exists,
    gpu_has_the_type,
    kv_cache_is_reusable,
    quantized_eagle,
    quantized_redrafter,
)


def quantized(method, weights="none", cache="auto", **fields):
    target = {"quantization": weights}
    return recipe(method, target=target, engine={"kv_cache": cache}, **fields)


def test_eagle_that_is_not_quantized_passes_and_so_do_other_methods():
    assert not findings(quantized_eagle, recipe("eagle"))
    assert not findings(quantized_eagle, quantized("medusa", "fp8"))


@pytest.mark.parametrize(("weights", "cache"), [("fp8", "auto"), ("none", "fp8")])
def test_quantized_eagle_is_refused(weights, cache):
    finding = only(quantized_eagle, quantized("eagle", weights, cache))
    assert (finding.severity, finding.where) == ("blocking", "target.quantization")
    assert f"quantization {weights} with method eagle" in finding.what
    assert "ModelOpt" in finding.why


@pytest.mark.parametrize("version", ["0.17.0", "0.20.0", "0.21.0"])
@pytest.mark.parametrize(("weights", "cache"), [("fp8", "auto"), ("none", "int8")])
def test_redrafter_is_not_quantized_in_one_step(weights, cache, version):
    finding = only(quantized_redrafter, quantized("redrafter", weights, cache), version)
    assert (finding.severity, finding.where) == ("blocking", "target.quantization")
    assert f"quantization {weights} and kv_cache " in finding.what
    assert finding.what.endswith(f"on TensorRT-LLM {version}")


def test_redrafter_that_is_not_quantized_or_takes_a_base_passes():
    assert not findings(quantized_redrafter, recipe("redrafter"), "0.17.0")
    assert not findings(quantized_redrafter, quantized("redrafter", "fp8"), "1.0.0")
    assert not findings(quantized_redrafter, quantized("medusa", "fp8"), "0.17.0")
    assert not findings(quantized_redrafter, quantized("redrafter", "fp8"), None)


@pytest.mark.parametrize(
    ("method", "weights", "cache"),
    [
        ("ngram", "none", "auto"),
        ("ngram", "fp8", "auto"),
        ("ngram", "fp8", "fp8"),
        ("ngram", "nvfp4", "fp8"),
        ("ngram", "int4_awq", "auto"),
        # no reuse is needed
        ("none", "none", "int8"),
        ("medusa", "int4_awq", "fp8"),
        ("lookahead", "none", "int8"),
    ],
)
def test_cache_whose_blocks_can_be_reused_passes(method, weights, cache):
    assert not findings(kv_cache_is_reusable, quantized(method, weights, cache))


@pytest.mark.parametrize(
    ("method", "weights", "cache"),
    [
        ("ngram", "none", "int8"),
        ("ngram", "fp8", "int8"),
        ("ngram", "none", "fp8"),
        ("ngram", "int4_awq", "fp8"),
        ("ngram", "int8_sq", "fp8"),
        ("eagle", "none", "int8"),
    ],
)
def test_cache_that_ends_the_reuse_of_blocks_is_refused(method, weights, cache):
    finding = only(kv_cache_is_reusable, quantized(method, weights, cache))
    assert (finding.severity, finding.where) == ("blocking", "engine.kv_cache")
    assert finding.what == (
        f"kv_cache {cache} with {method} and target.quantization {weights}"
    )
    assert "paged context FMHA off" in finding.why


def test_cache_of_the_draft_model_must_be_reusable_too():
    made = quantized("draft_target", "fp8", "fp8", quantization="none")
    finding = only(kv_cache_is_reusable, made)
    assert finding.what.endswith("and speculation.quantization none")
    assert "speculation.quantization to fp8" in finding.action
    made = quantized("draft_target", "fp8", "fp8", quantization="fp8")
    assert not findings(kv_cache_is_reusable, made)
    made = quantized("draft_target", "fp8", "int8", quantization="fp8")
    assert len(findings(kv_cache_is_reusable, made)) == 2


@pytest.mark.parametrize(
    ("weights", "cache", "gpu"),
    [
        ("fp8", "auto", "8.9"),
        ("fp8", "auto", "9.0"),
        ("int4_awq", "auto", "8.0"),
        ("none", "int8", "9.0"),
        ("int8_sq", "auto", "9.0"),
        ("fp8", "auto", "10.0"),
        ("int8_sq", "auto", "12.0"),
    ],
)
def test_type_that_the_gpu_has_passes(weights, cache, gpu):
    made = quantized("none", weights, cache)
    assert not findings(gpu_has_the_type, made, gpus=[on_gpu(gpu)])


@pytest.mark.parametrize(
    ("weights", "cache", "gpu", "said"),
    [
        ("fp8", "auto", "8.0", "fp8 on a GPU of compute capability 8.0"),
        ("none", "fp8", "8.6", "fp8 on a GPU of compute capability 8.6"),
        ("int8_sq", "auto", "10.0", "quantization int8_sq, kv_cache auto on a GPU"),
        ("int4_awq", "auto", "10.3", "capability 10.3"),
        ("fp8", "int8", "10.0", "quantization fp8, kv_cache int8"),
    ],
)
def test_type_that_the_gpu_does_not_have_is_refused(weights, cache, gpu, said):
    made = quantized("none", weights, cache)
    finding = only(gpu_has_the_type, made, gpus=[on_gpu(gpu)])
    assert (finding.severity, finding.where) == ("blocking", "target.quantization")
    assert said in finding.what


def test_draft_models_type_is_held_against_the_gpu_too():
    made = recipe("draft_target", quantization="fp8")
    finding = only(gpu_has_the_type, made, gpus=[on_gpu("8.0")])
    assert finding.where == "speculation.quantization"


@pytest.mark.parametrize("gpus", [(), [on_gpu(None)]])
def test_unknown_gpu_is_not_judged(gpus):
    assert not findings(gpu_has_the_type, quantized("none", "fp8"), gpus=gpus)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("weights", ["none", "fp8", "int4_awq", "int8_sq", "int8_wo"])
def test_format_that_all_versions_know_passes(weights, version):
    assert not findings(format_exists, quantized("none", weights), version)


def test_nvfp4_is_established_from_0_19_on():
    assert not findings(format_exists, quantized("none", "nvfp4"), "0.19.0")
    finding = only(format_exists, quantized("none", "nvfp4"), "0.18.2")
    assert (finding.severity, finding.where) == ("blocking", "target.quantization")
    assert "nvfp4 is not established for quantize.py of TensorRT-LLM 0.18.2" in (
        finding.what
    )
    assert "fp8, int8_sq, int4_awq" in finding.why


def test_format_of_the_draft_model_is_looked_up_too():
    made = recipe("draft_target", quantization="nvfp4")
    assert only(format_exists, made, "0.17.0").where == "speculation.quantization"
    assert not findings(format_exists, made, "1.3.0rc21")


@pytest.mark.parametrize(
    ("method", "dtype", "warns"),
    [
        ("medusa", "float32", True),
        ("eagle", "float32", True),
        ("lookahead", "float32", True),
        ("medusa", "bfloat16", False),
        ("none", "float32", False),
    ],
)
def test_type_that_the_methods_readme_does_not_list_is_a_warning(method, dtype, warns):
    found = findings(documented_type, recipe(method, target={"dtype": dtype}))
    assert [f.severity for f in found] == ["warning"] * warns
    if warns:
        assert f"float32 with method {method}" in found[0].what
        assert f"examples/{method}/README.md" in found[0].why

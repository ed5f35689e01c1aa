"""Types of weights and KV cache that are not there, or that break the method."""

import pytest
from packaging.version import Version

from tests.trtllm.engine.rules.findings import findings, only
from tests.trtllm.engine.samples import VERSIONS, recipe
from trtspec.check.subject import Subject, key_itself
from trtspec.trtllm.engine.rules.precision import (
    blocks_are_read_in_this_type,
    calibration_has_an_effect,
    calibration_is_there,
    documented_type,
    format_exists,
    kv_cache_is_reusable,
    quantized_eagle,
    quantized_redrafter,
)
from trtspec.trtllm.installation import Installation, assumed_for


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
        # its own rule refuses any quantization
        ("eagle", "none", "int8"),
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


@pytest.mark.parametrize(
    ("method", "dtype", "is_refused"),
    [
        ("ngram", "float32", True),
        ("draft_target", "float32", True),
        ("eagle", "float32", True),
        ("ngram", "float16", False),
        ("eagle", "bfloat16", False),
        ("none", "float32", False),
        ("medusa", "float32", False),
        ("lookahead", "float32", False),
    ],
)
def test_float32_is_refused_where_blocks_must_be_reused(method, dtype, is_refused):
    made = recipe(method, target={"dtype": dtype})
    found = findings(blocks_are_read_in_this_type, made)
    assert [(f.severity, f.where) for f in found] == (
        [("blocking", "target.dtype")] * is_refused
    )
    if is_refused:
        assert f"float32 with method {method}" in found[0].what
        assert "unfused" in found[0].why


def calibrated(dataset):
    return recipe(
        target={"quantization": "fp8"}, engine={"calibration_dataset": dataset}
    )


def of_calibration(dataset, base, installation=None):
    here = installation or Installation(version=Version("1.2.1"))
    subject = Subject(calibrated(dataset), key_itself, base=base)
    return list(calibration_is_there(here, subject))


def test_dataset_of_the_hub_or_in_a_folder_here_passes(tmp_path):
    (tmp_path / "data").mkdir()
    for dataset in ("cnn_dailymail", "org/texts", "./data", "data", str(tmp_path)):
        assert not of_calibration(dataset, tmp_path), dataset
    assert not findings(calibration_is_there, recipe())


@pytest.mark.parametrize("dataset", ["./texts", "../texts", "/no/texts"])
def test_dataset_in_a_folder_that_is_not_here_is_refused(tmp_path, dataset):
    (finding,) = of_calibration(dataset, tmp_path)
    assert finding.severity == "blocking"
    assert finding.where == "engine.calibration_dataset"
    assert finding.what.startswith(f"calibration_dataset {dataset} is no folder")
    assert not of_calibration(dataset, tmp_path, assumed_for("1.2.1"))


CALIBRATED = {"calibration_dataset": "org/texts", "calibration_samples": 8}


@pytest.mark.parametrize(
    ("method", "target", "engine", "fields"),
    [
        ("none", "fp8", CALIBRATED, {}),
        ("none", "none", CALIBRATED | {"kv_cache": "int8"}, {}),
        ("draft_target", "none", CALIBRATED, {"quantization": "fp8"}),
        ("none", "none", {}, {}),
    ],
)
def test_calibration_of_something_passes(method, target, engine, fields):
    made = recipe(method, target={"quantization": target}, engine=engine, **fields)
    assert not findings(calibration_has_an_effect, made)


@pytest.mark.parametrize("key", CALIBRATED)
@pytest.mark.parametrize("method", ["none", "draft_target"])
def test_calibration_of_nothing_is_a_warning(method, key):
    made = recipe(method, engine={key: CALIBRATED[key]})
    finding = only(calibration_has_an_effect, made)
    assert (finding.severity, finding.where) == ("warning", f"engine.{key}")
    assert finding.what == f"{key} {CALIBRATED[key]} has no effect"
    assert finding.action.startswith(f"delete engine.{key}")

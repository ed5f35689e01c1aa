"""Quantizations that are read, that are stored, that can be made here."""

import json

import pytest

from tests.build.projects import write_draft
from tests.models.tiny import write_checkpoint
from tests.trtllm.pytorch.build.rules.findings import found, only, subject_of
from trtspec.trtllm.pytorch.build.rules import quantization as module
from trtspec.trtllm.pytorch.build.rules.quantization import (
    calibration_has_an_effect,
    can_be_made_here,
    draft_is_taken_as_it_is,
    is_as_stored,
    is_readable,
)
from trtspec.trtllm.stored import stored_quantization

BY_MODELOPT = {"quant_method": "modelopt", "quant_algo": "NVFP4"}


def subject(folder, wanted="none", stored=None, beside=None, **keys):
    """Give a recipe whose target is stored so.

    :param stored: ``quantization_config`` of config.json.
    :param beside: ``quant_algo`` of hf_quant_config.json.
    """
    config = {} if stored is None else {"quantization_config": stored}
    write_checkpoint(folder / "model", **config)
    if beside is not None:
        said = json.dumps({"quantization": {"quant_algo": beside}})
        (folder / "model" / "hf_quant_config.json").write_text(said)
    target = {"quantization": wanted}
    return subject_of(folder, keys.pop("method", "none"), target=target, **keys)


@pytest.mark.parametrize(
    ("stored", "beside", "said"),
    [
        (None, None, "none"),
        (None, "FP8", "fp8"),
        (None, "W4A16_AWQ", "int4_awq"),
        (BY_MODELOPT, None, "nvfp4"),
        ({"quant_method": "modelopt"}, "NVFP4", "nvfp4"),
        ({"quant_method": "modelopt"}, None, "modelopt"),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, None, "fp8"),
        ({"quant_method": "mxfp4"}, None, "mxfp4"),
        (None, "MIXED_PRECISION", "mixed_precision"),
    ],
)
def test_stored_quantization_is_told_in_the_recipes_words(
    tmp_path, stored, beside, said
):
    target = subject(tmp_path, stored=stored, beside=beside).target
    assert stored_quantization(target) == said


@pytest.mark.parametrize("wanted", ["none", "fp8", "nvfp4", "int4_awq"])
def test_what_is_read_passes(tmp_path, wanted):
    assert not found(is_readable, subject(tmp_path, wanted))


@pytest.mark.parametrize("wanted", ["int8_sq", "int8_wo"])
def test_what_only_engines_have_is_refused(tmp_path, wanted):
    finding = only(is_readable, subject(tmp_path, wanted))
    assert (finding.severity, finding.where) == ("blocking", "target.quantization")
    assert f"quantization {wanted} does not exist on backend pytorch" in finding.what


def test_quantized_as_the_recipe_says_passes(tmp_path):
    assert not found(is_as_stored, subject(tmp_path, "fp8", beside="FP8"))
    assert not found(is_as_stored, subject(tmp_path / "b", "fp8"))


def test_other_quantization_than_the_recipe_says_is_refused(tmp_path):
    finding = only(is_as_stored, subject(tmp_path, "fp8", BY_MODELOPT))
    assert (finding.severity, finding.where) == ("blocking", "target.quantization")
    assert "quantization fp8, but" in finding.what
    assert "stored as nvfp4" in finding.what
    assert finding.action.startswith("write quantization: nvfp4, or give")


def test_quantization_that_has_no_word_is_none_to_the_recipe(tmp_path):
    finding = only(is_as_stored, subject(tmp_path, "fp8", {"quant_method": "mxfp4"}))
    assert finding.action.startswith("write quantization: none, or give")


def test_quantized_checkpoint_of_a_recipe_without_is_a_note(tmp_path):
    finding = only(is_as_stored, subject(tmp_path, stored={"quant_method": "mxfp4"}))
    assert finding.severity == "note"
    assert "stored as mxfp4" in finding.what


def test_draft_model_is_not_quantized(tmp_path):
    keys = {"method": "draft_target", "quantization": "fp8"}
    finding = only(draft_is_taken_as_it_is, subject(tmp_path, **keys))
    assert finding.severity == "blocking"
    assert finding.where == "speculation.quantization"
    plain = subject(tmp_path / "b", method="draft_target")
    assert not found(draft_is_taken_as_it_is, plain)


def test_draft_model_that_is_stored_so_passes(tmp_path):
    said = json.dumps({"quantization": {"quant_algo": "FP8"}})
    write_draft(tmp_path / "draft_target")
    (tmp_path / "draft_target" / "hf_quant_config.json").write_text(said)
    keys = {"method": "draft_target", "quantization": "fp8"}
    assert not found(draft_is_taken_as_it_is, subject(tmp_path, **keys))


def test_without_modelopt_quantizing_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    made = subject(tmp_path, "fp8", workload=True)
    finding = only(can_be_made_here, made)
    assert finding.severity == "blocking"
    assert "nvidia-modelopt is not installed" in finding.what
    assert "pip install nvidia-modelopt" in finding.action
    assert not found(can_be_made_here, made, assumed=True)
    monkeypatch.setattr(module, "find_spec", lambda name: object())
    assert not found(can_be_made_here, made)


def test_without_modelopt_what_needs_none_passes(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert not found(can_be_made_here, subject(tmp_path / "a"))
    made = subject(tmp_path / "b", "fp8", beside="FP8", workload=True)
    assert not found(can_be_made_here, made)


def test_without_modelopt_an_unknown_target_is_a_note(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    finding = only(
        can_be_made_here, subject(tmp_path, "fp8", workload=True, known=False)
    )
    assert finding.severity == "note"
    assert "unless the target is quantized already" in finding.what


def test_quantizing_takes_prompts(tmp_path):
    finding = only(can_be_made_here, subject(tmp_path, "fp8"), assumed=True)
    assert (finding.rule, finding.severity) == ("calibration", "blocking")
    assert "pytorch.calibration_prompts" in finding.action
    own = {"calibration_prompts": "own.jsonl"}
    made = subject(tmp_path / "b", "fp8", pytorch=own)
    assert not found(can_be_made_here, made, assumed=True)


def test_calibration_without_quantizing_is_a_warning(tmp_path):
    own = {"calibration_prompts": "own.jsonl", "calibration_samples": 4}
    findings = found(calibration_has_an_effect, subject(tmp_path, pytorch=own))
    assert [f.where for f in findings] == [
        "pytorch.calibration_prompts",
        "pytorch.calibration_samples",
    ]
    assert {f.severity for f in findings} == {"warning"}
    made = subject(tmp_path / "b", "fp8", pytorch=own)
    assert not found(calibration_has_an_effect, made)
    assert not found(calibration_has_an_effect, subject(tmp_path / "c", pytorch={}))

"""Types that the GPU here has pass, and GPUs that are enough; others are told."""

import pytest
from packaging.version import Version

from tests.trtllm.engine.rules.findings import findings, on_gpu, only
from tests.trtllm.engine.samples import recipe
from trtspec.check.subject import Subject, key_itself
from trtspec.gpu_kinds import gpu_kinds
from trtspec.trtllm.engine.rules.gpu import (
    gpu_has_the_type,
    gpu_is_visible,
    gpus_suffice,
)
from trtspec.trtllm.installation import Absence, Installation, assumed_for


def quantized(method, weights="none", cache="auto", **fields):
    target = {"quantization": weights}
    return recipe(method, target=target, engine={"kv_cache": cache}, **fields)


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
        ("nvfp4", "auto", "10.0"),
    ],
)
def test_type_that_the_gpu_has_passes(weights, cache, gpu):
    made = quantized("none", weights, cache)
    assert not findings(gpu_has_the_type, made, gpus=[on_gpu(gpu)])


@pytest.mark.parametrize(
    ("weights", "cache", "gpu", "key", "lacks"),
    [
        ("fp8", "auto", "8.0", "target.quantization", "no FP8"),
        ("fp8", "fp8", "8.0", "target.quantization", "no FP8"),
        ("none", "fp8", "8.6", "engine.kv_cache", "no FP8"),
        ("int4_awq", "fp8", "8.6", "engine.kv_cache", "no FP8"),
        ("nvfp4", "auto", "8.0", "target.quantization", "no FP4"),
        ("nvfp4", "auto", "9.0", "target.quantization", "no FP4"),
        ("int8_sq", "auto", "10.0", "target.quantization", "no INT8 and INT4 weights"),
        ("int4_awq", "auto", "10.3", "target.quantization", "no INT8 and INT4 weights"),
        ("fp8", "int8", "10.0", "engine.kv_cache", "no INT8 KV cache"),
    ],
)
def test_type_that_the_gpu_does_not_have_is_refused(weights, cache, gpu, key, lacks):
    made = quantized("none", weights, cache)
    finding = only(gpu_has_the_type, made, gpus=[on_gpu(gpu)])
    assert (finding.severity, finding.where) == ("blocking", key)
    name, value = key.partition(".")[2], weights if "quant" in key else cache
    assert finding.what == f"{name} {value} on a GPU of compute capability {gpu}"
    assert finding.why.startswith(f"compute capability {gpu} has {lacks}")


def test_both_types_that_the_gpu_does_not_have_are_told():
    made = quantized("none", "int8_sq", "int8")
    found = findings(gpu_has_the_type, made, gpus=[on_gpu("10.0")])
    assert [f.where for f in found] == ["target.quantization", "engine.kv_cache"]


def test_draft_models_type_is_held_against_the_gpu_too():
    made = recipe("draft_target", quantization="fp8")
    finding = only(gpu_has_the_type, made, gpus=[on_gpu("8.0")])
    assert finding.where == "speculation.quantization"


@pytest.mark.parametrize("gpus", [(), [on_gpu(None)]])
def test_unknown_gpu_is_not_judged(gpus):
    assert not findings(gpu_has_the_type, quantized("none", "fp8"), gpus=gpus)


def shared(size, draft=1):
    return recipe(
        "draft_target", target={"tensor_parallel": size}, tensor_parallel=draft
    )


@pytest.mark.parametrize(("size", "gpus"), [(1, 1), (2, 2), (2, 4), (4, 0)])
def test_as_many_gpus_as_share_the_model_pass(size, gpus):
    assert not findings(gpus_suffice, shared(size), gpus=[on_gpu("9.0")] * gpus)


def test_fewer_gpus_than_share_a_model_are_a_warning():
    gpus = [on_gpu("9.0")] * 2
    finding = only(gpus_suffice, shared(4, 2), gpus=gpus)
    assert (finding.severity, finding.where) == ("warning", "target.tensor_parallel")
    assert "tensor_parallel 4 of the target model, with 2 visible GPUs" in finding.what
    where = only(gpus_suffice, shared(1, 4), gpus=gpus).where
    assert where == "speculation.tensor_parallel"


NO_DRIVER = Absence("gpus", "no NVIDIA driver: library not found")


def test_machine_without_a_visible_gpu_is_refused_with_the_reason():
    here = Installation(version=Version("1.2.1"), absences=(NO_DRIVER,))
    (finding,) = gpu_is_visible(here, Subject(recipe(), key_itself))
    assert (finding.severity, finding.where) == ("blocking", "installation")
    assert finding.what.startswith("no GPU is visible: engines can be neither built")
    assert finding.why == "no NVIDIA driver: library not found"
    assert "trtspec plan RECIPE --trtllm 1.2.1 needs none" in finding.action


@pytest.mark.parametrize(
    "installation",
    [
        assumed_for("1.2.1"),
        Installation(version=Version("1.2.1"), gpus=(on_gpu("9.0"),)),
        # something else is what they lack
        Installation(absences=(NO_DRIVER,)),
        Installation(version=Version("1.3.0rc21"), absences=(NO_DRIVER,)),
    ],
)
def test_gpu_that_is_there_or_is_not_looked_for_passes(installation):
    assert not list(gpu_is_visible(installation, Subject(recipe(), key_itself)))


def test_gpu_that_is_asked_about_counts_before_the_one_here():
    made = recipe("none", target={"quantization": "fp8"})
    here = Installation(version=Version("1.2.1"), gpus=(on_gpu("9.0"),))
    ampere = next(kind for kind in gpu_kinds() if kind.capability == 80)
    for gpus, rules in (((), []), ((ampere,), ["gpu-type"])):
        subject = Subject(made, key_itself, gpus=gpus)
        assert [one.rule for one in gpu_has_the_type(here, subject)] == rules

"""GPUs that lack a type, or are too few, and features that latent attention loses."""

from pathlib import Path

import pytest

from tests.trtllm.pytorch.build.rules.findings import (
    found,
    on_gpu,
    only,
    subject_of,
)
from trtspec.trtllm.installation import Absence
from trtspec.trtllm.pytorch.build.rules.gpus import (
    gpu_has_the_type,
    gpu_is_visible,
    gpus_suffice,
)
from trtspec.trtllm.pytorch.build.rules.latent import features_of_latent_attention

PACKAGE = Path("tensorrt_llm")
LATENT = {"kv_lora_rank": 4}


def test_without_a_gpu_it_can_be_built_but_not_run(tmp_path):
    absences = (Absence("gpus", "no NVIDIA driver"),)
    finding = only(
        gpu_is_visible, subject_of(tmp_path), package=PACKAGE, absences=absences
    )
    assert (finding.severity, finding.where) == ("warning", "backend")
    assert finding.why == "no NVIDIA driver"


def test_gpu_that_is_there_or_not_asked_for_passes(tmp_path):
    subject = subject_of(tmp_path)
    assert not found(gpu_is_visible, subject, package=PACKAGE, gpus=on_gpu("9.0"))
    assert not found(gpu_is_visible, subject, package=PACKAGE, assumed=True)
    assert not found(gpu_is_visible, subject)


@pytest.mark.parametrize(
    ("capability", "quantization", "cache", "key"),
    [
        ("8.0", "fp8", "auto", "target.quantization"),
        ("9.0", "nvfp4", "auto", "target.quantization"),
        ("8.0", "none", "fp8", "pytorch.kv_cache"),
        ("9.0", "none", "nvfp4", "pytorch.kv_cache"),
    ],
)
def test_type_that_the_gpu_lacks_is_refused(
    tmp_path, capability, quantization, cache, key
):
    subject = subject_of(
        tmp_path, target={"quantization": quantization}, pytorch={"kv_cache": cache}
    )
    finding = only(gpu_has_the_type, subject, gpus=on_gpu(capability))
    assert (finding.severity, finding.where) == ("blocking", key)
    assert f"compute capability {capability}" in finding.what


@pytest.mark.parametrize(
    ("capability", "quantization"),
    [("8.9", "fp8"), ("10.0", "nvfp4"), ("8.0", "int4_awq"), ("8.0", "none")],
)
def test_type_that_the_gpu_has_passes(tmp_path, capability, quantization):
    subject = subject_of(tmp_path, target={"quantization": quantization})
    assert not found(gpu_has_the_type, subject, gpus=on_gpu(capability))
    assert not found(gpu_has_the_type, subject)


def test_too_few_gpus_are_a_warning(tmp_path):
    subject = subject_of(tmp_path, target={"tensor_parallel": 2})
    finding = only(gpus_suffice, subject, gpus=on_gpu("9.0"))
    assert (finding.severity, finding.where) == ("warning", "target.tensor_parallel")
    assert "2 GPUs of one node share the model, with 1 visible GPU" in finding.what
    assert not found(gpus_suffice, subject, gpus=on_gpu("9.0", 2))
    assert not found(gpus_suffice, subject)


def test_each_node_needs_its_share(tmp_path):
    spread = subject_of(
        tmp_path, target={"tensor_parallel": 4}, pytorch={"gpus_per_node": 2}
    )
    assert not found(gpus_suffice, spread, gpus=on_gpu("9.0", 2))
    finding = only(gpus_suffice, spread, gpus=on_gpu("9.0"))
    assert finding.what.startswith("2 GPUs of one node")


def test_nodes_that_are_not_filled_are_refused(tmp_path):
    subject = subject_of(
        tmp_path, target={"tensor_parallel": 4}, pytorch={"gpus_per_node": 3}
    )
    finding = only(gpus_suffice, subject)
    assert (finding.severity, finding.where) == ("blocking", "pytorch.gpus_per_node")
    assert "4 ranks do not fill nodes of 3 GPUs" in finding.what


def test_latent_attention_reuses_no_blocks_on_other_gpus(tmp_path):
    subject = subject_of(tmp_path, config=LATENT, pytorch={"chunked_prefill": True})
    findings = found(features_of_latent_attention, subject, gpus=on_gpu("8.9"))
    assert [f.where for f in findings] == [
        "pytorch.block_reuse",
        "pytorch.chunked_prefill",
    ]
    assert {f.severity for f in findings} == {"warning"}
    assert findings[0].action == "write block_reuse: false"


@pytest.mark.parametrize("capability", ["9.0", "10.0", "10.3", "12.0"])
def test_latent_attention_loses_nothing_on_these_gpus(tmp_path, capability):
    subject = subject_of(tmp_path, config=LATENT, pytorch={"chunked_prefill": True})
    assert not found(features_of_latent_attention, subject, gpus=on_gpu(capability))


def test_latent_attention_reuses_no_blocks_of_fp4(tmp_path):
    subject = subject_of(tmp_path, config=LATENT, pytorch={"kv_cache": "nvfp4"})
    finding = only(features_of_latent_attention, subject, gpus=on_gpu("10.0"))
    assert "kv_cache nvfp4" in finding.what
    for cache in ("fp8", "auto"):
        passing = subject_of(tmp_path, pytorch={"kv_cache": cache})
        assert not found(features_of_latent_attention, passing, gpus=on_gpu("10.0"))


def test_plain_attention_loses_nothing(tmp_path):
    subject = subject_of(tmp_path, pytorch={"kv_cache": "nvfp4"})
    assert not found(features_of_latent_attention, subject, gpus=on_gpu("8.0"))


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0"])
def test_what_was_not_read_of_a_release_is_not_said_of_it(tmp_path, version):
    subject = subject_of(tmp_path, config=LATENT, pytorch={"chunked_prefill": True})
    gpus = on_gpu("8.9")
    assert not found(features_of_latent_attention, subject, version, gpus=gpus)
    assert found(features_of_latent_attention, subject, "1.2.1", gpus=gpus)

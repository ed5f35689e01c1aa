"""What is asked of an engine beside speculation, and the GPUs that it is for."""

import pytest

from tests.trtllm.combinations.asking import found, recipe, told
from trtspec.check.rules.gpu_support import gpu_is_supported
from trtspec.check.subject import Subject, key_itself
from trtspec.gpu_kinds import gpu_kind, gpu_kinds
from trtspec.trtllm.capability import capability_of, shown
from trtspec.trtllm.combinations.asked import asked_of_engines, asked_of_server


def asked(method, version, *, feature, capability=None, target=None, **flags):
    options = {"build_flags": flags}
    made = recipe(method, backend="tensorrt", options=options, target=target)
    findings = told(made, version, feature, capability=capability)
    return [(one.rule, one.severity) for one in findings]


UNKNOWN = [("combination-unknown", "warning")]
UNTESTED = [("combination-untested", "warning")]


@pytest.mark.parametrize(
    ("method", "version", "flags"),
    [
        ("medusa", "0.17.0", {"lora_plugin": "auto"}),
        ("ngram", "1.2.1", {"max_lora_rank": 64}),
        ("draft_target", "0.20.0", {"lora_dir": "/adapters"}),
    ],
)
def test_lora_with_speculation_is_not_established(method, version, flags):
    assert asked(method, version, feature="lora", **flags) == UNKNOWN


@pytest.mark.parametrize("gpu", ["T4", "V100 16GB"])
@pytest.mark.parametrize("backend", ["tensorrt", "pytorch"])
def test_an_old_gpu_that_is_asked_about_is_one_finding(gpu, backend):
    method = "medusa" if backend == "tensorrt" else "eagle3"
    made = recipe(method, backend=backend)
    subject = Subject(made, key_itself, gpus=(gpu_kind(gpu),))
    asked_of = asked_of_engines if backend == "tensorrt" else asked_of_server
    assert [f.rule for f in gpu_is_supported(subject)] == ["gpu-support"]
    features = [one.feature for one in asked_of(subject)]
    assert "compute_capability" not in features


def test_lora_that_is_switched_off_or_without_speculation_passes():
    assert not asked("medusa", "1.2.1", feature="lora", lora_plugin="disable")
    assert not asked("none", "1.2.1", feature="lora", lora_plugin="auto")


@pytest.mark.parametrize(
    ("method", "kind", "wanted"),
    [
        ("medusa", "fp8", []),
        ("medusa", "int8_wo", UNTESTED),
        ("medusa", "int4_awq", UNTESTED),
        ("lookahead", "int8_sq", UNTESTED),
        ("redrafter", "nvfp4", UNTESTED),
        ("ngram", "int4_awq", []),
    ],
)
def test_quantized_weights_by_method(method, kind, wanted):
    target = {"quantization": kind}
    assert asked(method, "1.2.1", feature="quantization", target=target) == wanted


@pytest.mark.parametrize(
    ("method", "version", "capability", "wanted"),
    [
        ("medusa", "0.20.0", "10.0", [("combination-broken", "blocking")]),
        ("lookahead", "0.20.0", "12.0", [("combination-broken", "blocking")]),
        ("medusa", "1.2.1", "10.0", UNKNOWN),
        ("ngram", "0.20.0", "10.0", UNKNOWN),
        # that the GPU is too old at all is gpu-support's to say
        ("eagle", "0.17.0", "7.5", []),
        ("draft_target", "1.2.1", "7.0", []),
        ("eagle", "1.2.1", "9.0", []),
        ("medusa", "1.2.1", "8.6", []),
    ],
)
def test_generations_of_gpus(method, version, capability, wanted):
    feature = "compute_capability"
    got = asked(method, version, feature=feature, capability=capability)
    assert got == wanted


@pytest.mark.parametrize("version", ["1.3.0rc21", "1.4.0rc4"])
def test_version_without_the_backend_says_nothing(version):
    made = recipe("medusa", backend="tensorrt", options={"build_flags": {}})
    assert not found(made, version, capability="7.5")


def test_without_a_version_what_is_asked_for_is_a_warning():
    made = recipe(
        "medusa", backend="tensorrt", options={"build_flags": {"lora_plugin": "auto"}}
    )
    (finding,) = found(made, None)
    assert (finding.rule, finding.severity) == ("combination-unknown", "warning")
    assert "--trtllm VERSION" in finding.action


def test_capability_is_written_as_nvidia_does():
    assert [shown(number) for number in (75, 90, 121)] == ["7.5", "9.0", "12.1"]


def test_the_oldest_gpu_counts():
    made = recipe("medusa", backend="tensorrt")
    kinds = sorted(
        (kind for kind in gpu_kinds() if kind.capability),
        key=lambda kind: -(kind.capability or 0),
    )
    assert capability_of(Subject(made, key_itself, gpus=tuple(kinds))) == (
        kinds[-1].capability
    )
    unknown = kinds[0].model_copy(update={"compute_capability": None})
    both = (unknown, kinds[0])
    assert capability_of(Subject(made, key_itself, gpus=both)) == kinds[0].capability
    assert capability_of(Subject(made, key_itself)) is None

"""GPUs that TensorRT-LLM no longer lists are refused, and no others."""

from dataclasses import replace

import pytest

from tests.check.rules.test_memory import NO_KIND, asked
from trtspec.check.rules.gpu_support import gpu_is_supported


@pytest.mark.parametrize("gpu", ["v100 16gb", "v100 32gb", "t4"])
@pytest.mark.parametrize("backend", ["pytorch", "tensorrt"])
def test_gpus_before_ampere_are_refused(gpu, backend):
    (found,) = gpu_is_supported(asked(gpu, backend=backend, count=2))
    assert (found.rule, found.severity) == ("gpu-support", "blocking")
    assert found.source


@pytest.mark.parametrize("gpu", ["a30", "l4", "h20", "gb300", "rtx 5090"])
def test_gpus_from_ampere_on_are_not(gpu):
    assert not list(gpu_is_supported(asked(gpu)))


def test_a_gpu_without_a_capability_is_not_judged():
    assert not list(gpu_is_supported(replace(asked(None), gpus=(NO_KIND,))))


def test_the_reference_engine_needs_no_gpu_at_all():
    assert not list(gpu_is_supported(asked("t4", backend="reference")))

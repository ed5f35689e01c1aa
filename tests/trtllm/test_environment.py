"""Driver, CUDA, TensorRT and TensorRT-LLM that do not fit are named together."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.version import Version

from tests.trtllm.machines import H200
from trtspec.trtllm.environment import environment_findings
from trtspec.trtllm.facts.drivers import (
    built_with,
    least_driver,
    newest_for,
    own_driver,
)
from trtspec.trtllm.facts.presence import releases
from trtspec.trtllm.installation import Absence, Installation, assumed_for
from trtspec.trtllm.surroundings import Surroundings

NOTHING = Surroundings()


def found(version="1.2.1", around=NOTHING, **parts):
    parts = {"driver": "580.65.06", "gpus": (H200,), "package": Path("p")} | parts
    made = Installation(version=version and Version(version), **parts)
    return {f.rule: f for f in environment_findings(made, around)}


def test_what_fits_gives_no_finding():
    assert found(cuda="13.0.88", tensorrt="10.14.1.48") == {}
    assert found("0.20.0", cuda="12.9", tensorrt="10.10.0.31") == {}
    assert found(driver="595.71.05", cuda="13.0") == {}


@pytest.mark.parametrize(
    ("driver", "cuda", "version", "least"),
    [
        ("535.104.05", "13.0", "1.2.1", "580"),
        ("575.57.08", "13.0.2", "1.2.1", "580"),
        ("510.85.02", "12.8", "0.17.0", "525"),
        ("470.82.01", None, "0.20.0", "525"),
        ("535.86.10", None, "1.4.0rc4", "580"),
    ],
)
def test_an_old_driver_is_named_with_cuda_and_release(driver, cuda, version, least):
    finding = found(version, driver=driver, cuda=cuda)["driver"]
    assert finding.severity == "blocking"
    assert f"driver {driver} is too old for CUDA" in finding.what
    assert f"of TensorRT-LLM {version}" in finding.what
    assert f"driver {least} or later on the host" in finding.action
    assert finding.values["least_driver"] == least
    assert "docs.nvidia.com" in finding.source


def test_the_newest_release_for_the_driver_is_offered():
    action = found(driver="535.104.05", cuda="13.0")["driver"].action
    assert "TensorRT-LLM >=1.1,<1.2, with CUDA 12.9" in action


def test_forward_compatibility_makes_it_a_warning():
    around = Surroundings(compatibility="/usr/local/cuda/compat")
    finding = found(around=around, driver="535.104.05", cuda="13.0")["driver"]
    assert finding.severity == "warning"
    assert "data center GPUs" in finding.why


@pytest.mark.parametrize(
    ("driver", "cuda", "own"),
    [
        ("535.104.05", "12.8", "570.26"),
        ("570.124.06", "12.9.1", "575.51.03"),
        ("580.65.06", "13.2", "595.45.04"),
    ],
)
def test_a_driver_within_the_major_version_is_a_note(driver, cuda, own):
    finding = found(None, driver=driver, cuda=cuda)["driver"]
    assert finding.severity == "note"
    assert finding.values["own_driver"] == own


@pytest.mark.parametrize(
    ("version", "cuda", "wanted"),
    [("1.2.1", "12.8", "13.0"), ("0.18.0", "13.0", "12.8"), ("1.0.0", "11.8", "12.9")],
)
def test_another_major_cuda_than_the_releases_is_told(version, cuda, wanted):
    finding = found(version, cuda=cuda)["cuda-version"]
    assert cuda in finding.what
    assert wanted in finding.what
    assert f"release:{version}" in finding.action


@pytest.mark.parametrize(
    ("version", "tensorrt", "fits"),
    [
        ("0.20.0", "10.9.0.34", False),
        ("1.2.1", "10.13.3.9", False),
        ("1.0.0", "10.11.0.33", True),
        ("1.2.1", "not a number", True),
        ("1.4.0rc4", "10.14.1", True),
    ],
)
def test_tensorrt_is_held_against_the_release(version, tensorrt, fits):
    rules = found(version, tensorrt=tensorrt)
    assert ("tensorrt-version" not in rules) == fits


def test_a_plan_for_elsewhere_says_nothing_of_this_machine():
    assert not list(environment_findings(assumed_for("1.2.1"), Surroundings()))


def test_a_driver_that_nobody_knows_is_not_judged():
    assert found(driver=None) == {}
    assert found(driver="unknown", cuda="13.0") == {}


CONTAINER = Surroundings(container=True, visible="all")
NO_LIBRARY = "no NVIDIA driver: NVML Shared Library Not Found"


@pytest.mark.parametrize(
    ("reason", "around", "words"),
    [
        (NO_LIBRARY, CONTAINER, "started without GPUs"),
        (
            NO_LIBRARY,
            Surroundings(container=True, visible="void"),
            "NVIDIA_VISIBLE_DEVICES='void'",
        ),
        (
            NO_LIBRARY,
            Surroundings(container=True, device=True, capabilities="compute"),
            "NVIDIA_DRIVER_CAPABILITIES=compute",
        ),
        (NO_LIBRARY, Surroundings(nvidia_smi="/usr/bin/nvidia-smi"), "nvidia-smi is"),
        (NO_LIBRARY, Surroundings(device=True), "device files are here"),
        (
            NO_LIBRARY,
            Surroundings(stub="/usr/local/cuda/lib64/stubs"),
            "a stub for linking",
        ),
        (
            "no NVIDIA driver: RM has detected an NVML/RM version mismatch.",
            Surroundings(),
            "different versions",
        ),
        (
            "the NVIDIA driver does not answer: Insufficient Permissions",
            Surroundings(device=True),
            "may not open",
        ),
    ],
)
def test_signs_of_why_no_gpu_is_seen(reason, around, words):
    absences = (Absence("gpus", reason),)
    finding = found(around=around, driver=None, gpus=(), absences=absences)[
        "driver-library"
    ]
    assert words in finding.what
    assert finding.why == reason
    assert finding.action


@pytest.mark.parametrize(
    "reason", [NO_LIBRARY, "the NVIDIA driver lists no GPU", "no such sign"]
)
def test_without_a_sign_there_is_no_guess(reason):
    absences = (Absence("gpus", reason),)
    assert found(driver=None, gpus=(), absences=absences) == {}


def test_every_release_has_a_cuda_whose_drivers_are_known():
    for release in releases():
        known = built_with(Version(release.version))
        for cuda in map(Version, known.cuda):
            assert Version(least_driver(cuda)) <= Version(own_driver(cuda))


def test_a_cuda_that_no_source_settles_is_not_judged():
    assert least_driver(Version("14.0")) is None
    assert own_driver(Version("12.7")) is None
    assert built_with(Version("1.3.0rc10")) is None
    assert newest_for(Version("450.80")) is None


def test_a_container_that_wants_no_gpu_is_a_note():
    absences = (Absence("gpus", NO_LIBRARY),)
    around = Surroundings(container=True)
    nothing = {"driver": None, "gpus": (), "package": None, "absences": absences}
    finding = found(None, around, **nothing)["driver-library"]
    assert finding.severity == "note"
    assert found(None, CONTAINER, **nothing)["driver-library"].severity == "warning"

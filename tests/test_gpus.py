"""GPUs are described by their driver, and absence is a fact with a reason."""

import sys
import types

import pytest

from trtspec.gpus import find_gpus


class NvmlError(Exception):
    pass


def nvml(**functions):
    plain = {
        "NVMLError": NvmlError,
        "NVML_CLOCK_SM": 1,
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: 1,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetName": lambda handle: b"Toy GPU",
        "nvmlDeviceGetMemoryInfo": lambda h: types.SimpleNamespace(total=80 << 30),
        "nvmlSystemGetDriverVersion": lambda: "570.1",
        "nvmlDeviceGetClockInfo": lambda handle, clock: 1980,
        "nvmlDeviceGetEnforcedPowerLimit": lambda handle: 700_000,
        "nvmlDeviceGetCudaComputeCapability": lambda handle: (9, 0),
    }
    return types.SimpleNamespace(**plain | functions)


@pytest.fixture(autouse=True)
def _all_visible(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def failing(*_):
    raise NvmlError("not supported")


def test_a_gpu_is_described(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", nvml())
    (gpu,), reason = find_gpus()
    assert reason is None
    assert (gpu.name, gpu.driver) == ("Toy GPU", "570.1")
    assert (gpu.sm_clock_mhz, gpu.power_limit_watts) == (1980, 700.0)
    assert gpu.memory_bytes == 80 << 30
    assert gpu.compute_capability == "9.0"


def test_what_a_board_does_not_tell_is_null(monkeypatch):
    silent = nvml(
        nvmlDeviceGetClockInfo=failing,
        nvmlDeviceGetEnforcedPowerLimit=failing,
        nvmlDeviceGetCudaComputeCapability=failing,
    )
    monkeypatch.setitem(sys.modules, "pynvml", silent)
    (gpu,), _ = find_gpus()
    assert gpu.sm_clock_mhz is gpu.power_limit_watts is None
    assert gpu.compute_capability is None


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (None, "not installed"),
        (nvml(nvmlInit=failing), "no NVIDIA driver"),
        (nvml(nvmlDeviceGetCount=lambda: 0), "lists no GPU"),
        (nvml(nvmlDeviceGetCount=failing), "does not answer"),
    ],
)
def test_the_absence_of_gpus_is_a_fact_with_a_reason(monkeypatch, module, words):
    monkeypatch.setitem(sys.modules, "pynvml", module)
    gpus, reason = find_gpus()
    assert gpus == ()
    assert reason is not None
    assert words in reason


def seen(monkeypatch, listed, count=3):
    """Give the names of the GPUs that a program sees, and why there are none."""
    several = nvml(
        nvmlDeviceGetCount=lambda: count,
        nvmlDeviceGetName=lambda handle: f"GPU {handle}",
        nvmlDeviceGetUUID=lambda handle: f"GPU-{handle}{handle}-abc",
        nvmlDeviceGetHandleByUUID=lambda uuid: uuid.decode(),
    )
    monkeypatch.setitem(sys.modules, "pynvml", several)
    if listed is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", listed)
    gpus, reason = find_gpus()
    return [gpu.name.removeprefix("GPU ") for gpu in gpus], reason


@pytest.mark.parametrize(
    ("listed", "names"),
    [
        (None, ["0", "1", "2"]),
        ("2,0", ["2", "0"]),
        (" 1 , 2 ", ["1", "2"]),
        ("0,7,1", ["0"]),
        ("1,-1,2", ["1"]),
        ("GPU-22,GPU-00-abc", ["2", "0"]),
        ("GPU-22,GPU-x,0", ["2"]),
        ("GPU-,0", None),
        ("MIG-5", ["MIG-5"]),
    ],
)
def test_gpus_are_those_that_a_program_sees(monkeypatch, listed, names):
    found, reason = seen(monkeypatch, listed)
    assert found == (names or [])
    assert (reason is None) == bool(names)


@pytest.mark.parametrize("listed", ["", "-1", "no"])
def test_gpus_that_are_all_hidden_are_none_with_the_reason(monkeypatch, listed):
    found, reason = seen(monkeypatch, listed)
    assert found == []
    assert reason == f"CUDA_VISIBLE_DEVICES={listed} hides the 3 GPUs of this machine"

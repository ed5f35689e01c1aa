"""GPUs are read through NVML; what a board does not tell is None."""

from __future__ import annotations

import sys
import types

import pytest

from trtspec.bench.gpu_reader import GpuReader, open_gpus


class NvmlError(Exception):
    pass


def nvml(**functions):
    """A pynvml with two GPUs; a handle is the GPU's index."""
    plain = {
        "NVMLError": NvmlError,
        "NVML_CLOCK_SM": 1,
        "calls": [],
        "nvmlDeviceGetCount": lambda: 2,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetMemoryInfo": lambda h: types.SimpleNamespace(used=(h + 1) << 30),
        "nvmlDeviceGetTotalEnergyConsumption": lambda h: 1500 * (h + 1),
        "nvmlDeviceGetClockInfo": lambda h, clock: 1000 * clock + h,
        "nvmlDeviceGetCurrentClocksEventReasons": lambda h: 0x04 | 0x40 if h else 0x01,
    }
    fake = types.SimpleNamespace(**plain | functions)
    fake.nvmlInit = getattr(fake, "nvmlInit", lambda: fake.calls.append("init"))
    fake.nvmlShutdown = lambda: fake.calls.append("shutdown")
    return fake


def failing(*_):
    raise NvmlError("not supported")


@pytest.fixture(autouse=True)
def _all_visible(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def reader(**functions):
    return GpuReader(nvml(**functions), [0, 1])


def test_each_gpu_is_read():
    gpus = reader()
    assert gpus.memory_bytes() == [1 << 30, 2 << 30]
    assert gpus.energy_joules() == [1.5, 3.0]
    assert gpus.clock_mhz() == [1000, 1001]


def test_an_idle_gpu_is_not_held_down_and_a_hot_one_is():
    assert reader().throttle_reasons() == [
        set(),
        {"software power cap", "hardware thermal slowdown"},
    ]


@pytest.mark.parametrize(
    ("bit", "words"),
    [
        (0x08, {"hardware slowdown"}),
        (0x20, {"software thermal slowdown"}),
        (0x80, {"hardware power brake"}),
        (0x02, set()),
        (0x100, set()),
    ],
)
def test_reasons_have_names(bit, words):
    told = reader(nvmlDeviceGetCurrentClocksEventReasons=lambda h: bit)
    assert told.throttle_reasons() == [words, words]


def test_the_bits_are_those_of_the_installed_library():
    import pynvml

    assert pynvml.nvmlClocksEventReasonSwPowerCap == 0x04
    assert pynvml.nvmlClocksEventReasonHwSlowdown == 0x08
    assert pynvml.nvmlClocksEventReasonSwThermalSlowdown == 0x20
    assert pynvml.nvmlClocksEventReasonHwThermalSlowdown == 0x40
    assert pynvml.nvmlClocksEventReasonHwPowerBrakeSlowdown == 0x80


def test_an_older_driver_knows_the_older_name():
    gpus = reader(
        nvmlDeviceGetCurrentClocksEventReasons=failing,
        nvmlDeviceGetCurrentClocksThrottleReasons=lambda h: 0x04,
    )
    assert gpus.throttle_reasons() == [{"software power cap"}] * 2


@pytest.mark.parametrize(
    ("function", "read"),
    [
        ("nvmlDeviceGetMemoryInfo", GpuReader.memory_bytes),
        ("nvmlDeviceGetTotalEnergyConsumption", GpuReader.energy_joules),
        ("nvmlDeviceGetClockInfo", GpuReader.clock_mhz),
        ("nvmlDeviceGetCurrentClocksEventReasons", GpuReader.throttle_reasons),
    ],
)
def test_what_a_board_does_not_tell_is_none_and_the_rest_is_read(function, read):
    gpus = reader(**{function: failing})
    told = [
        gpus.memory_bytes(),
        gpus.energy_joules(),
        gpus.clock_mhz(),
        gpus.throttle_reasons(),
    ]
    assert read(gpus) is None
    assert told.count(None) == 1


def test_one_gpu_that_does_not_tell_makes_the_list_unknown():
    gpus = reader(nvmlDeviceGetClockInfo=lambda h, clock: failing() if h else 1980)
    assert gpus.clock_mhz() is None


class TestOpening:
    def test_the_library_is_opened_and_closed(self, monkeypatch):
        fake = nvml()
        monkeypatch.setitem(sys.modules, "pynvml", fake)
        with open_gpus() as gpus:
            assert gpus is not None
            assert gpus.energy_joules() == [1.5, 3.0]
            assert fake.calls == ["init"]
        assert fake.calls == ["init", "shutdown"]

    def test_it_is_closed_after_an_error(self, monkeypatch):
        fake = nvml()
        monkeypatch.setitem(sys.modules, "pynvml", fake)
        with pytest.raises(RuntimeError, match="of the block"), open_gpus():
            raise RuntimeError("of the block")
        assert fake.calls == ["init", "shutdown"]

    def test_only_visible_gpus_are_read(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pynvml", nvml())
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
        with open_gpus() as gpus:
            assert gpus is not None
            assert gpus.energy_joules() == [3.0]

    @pytest.mark.parametrize(
        "functions",
        [
            {"nvmlInit": failing},
            {"nvmlDeviceGetCount": failing},
            {"nvmlDeviceGetCount": lambda: 0},
        ],
    )
    def test_without_a_driver_or_a_gpu_there_is_no_reader(self, monkeypatch, functions):
        monkeypatch.setitem(sys.modules, "pynvml", nvml(**functions))
        with open_gpus() as gpus:
            assert gpus is None

    def test_without_the_library_there_is_no_reader(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pynvml", None)
        with open_gpus() as gpus:
            assert gpus is None

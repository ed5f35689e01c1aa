"""What is read of this very process, and of GPUs that are scripted."""

from __future__ import annotations

import mmap
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import pytest

from trtspec.bench import resources
from trtspec.bench.resources import watching_resources


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.fixture(autouse=True)
def _look_often(monkeypatch):
    monkeypatch.setattr(resources, "SECONDS", 0.02)


@pytest.fixture
def no_gpus(monkeypatch):
    monkeypatch.setattr(resources, "open_gpus", gpus_of(None))


def gpus_of(reader):
    @contextmanager
    def opened():
        yield reader

    return opened


@pytest.mark.usefixtures("no_gpus")
class TestThisProcess:
    def test_cpu_time_is_that_of_the_block(self):
        burn(0.1)
        with watching_resources() as used:
            burn(0.3)
        burn(0.1)
        assert 0.25 <= used().cpu_seconds < 0.45

    def test_sleep_uses_no_cpu(self):
        with watching_resources() as used:
            time.sleep(0.2)
        assert used().cpu_seconds < 0.15

    def test_a_child_that_has_ended_is_in_it(self):
        program = "import time\nwhile time.process_time() < 0.4: pass"
        with watching_resources() as used:
            subprocess.run([sys.executable, "-c", program], check=True)
        assert used().cpu_seconds > 0.35

    def test_memory_is_the_most_that_was_used(self):
        with watching_resources() as before:
            pass
        # of its own: an allocation may be of pages that the process has already
        with watching_resources() as used, mmap.mmap(-1, 80 << 20) as held:
            held[:: 1 << 12] = b"x" * len(held[:: 1 << 12])
            time.sleep(0.1)
        grown = used().memory_bytes - before().memory_bytes
        assert 60 << 20 < grown < 120 << 20

    def test_without_gpus_nothing_is_said_of_them(self):
        with watching_resources() as used:
            pass
        found = used()
        assert found.gpu_memory_bytes is found.gpu_energy_joules is None
        assert found.gpu_clock_mhz is found.gpu_throttled is None

    def test_what_was_seen_before_an_error_is_still_told(self):
        with suppress(RuntimeError), watching_resources() as used:
            burn(0.1)
            raise RuntimeError("engine")
        assert used().cpu_seconds > 0.04


class Gpus:
    """Two GPUs whose readings are scripted; the last one stays."""

    def __init__(self, **readings):
        self.readings = {key: list(values) for key, values in readings.items()}

    def _next(self, key):
        values = self.readings.get(key, [None])
        return values.pop(0) if len(values) > 1 else values[0]

    def memory_bytes(self):
        return self._next("memory")

    def energy_joules(self):
        return self._next("energy")

    def clock_mhz(self):
        return self._next("clock")

    def throttle_reasons(self):
        return self._next("reasons")


class TestGpus:
    def used(self, monkeypatch, gpus, seconds=0.15):
        monkeypatch.setattr(resources, "open_gpus", gpus_of(gpus))
        with watching_resources() as used:
            time.sleep(seconds)
        return used()

    def test_the_most_memory_and_the_whole_range_of_clocks_count(self, monkeypatch):
        found = self.used(
            monkeypatch,
            Gpus(
                memory=[[5, 1], [9, 1], [2, 3]],
                clock=[[1500, 900], [1980, 800], [1700, 850]],
            ),
        )
        assert found.gpu_memory_bytes == (9, 3)
        assert found.gpu_clock_mhz == ((1500, 1980), (800, 900))

    def test_energy_is_what_was_used_in_between(self, monkeypatch):
        found = self.used(monkeypatch, Gpus(energy=[[100.0, 7.0], [130.0, 7.5]]))
        assert found.gpu_energy_joules == (30.0, 0.5)

    def test_every_reason_that_was_seen_is_kept(self, monkeypatch):
        found = self.used(
            monkeypatch, Gpus(reasons=[[{"b"}, set()], [{"a"}, set()], [set(), set()]])
        )
        assert found.gpu_throttled == (("a", "b"), ())

    def test_a_board_that_tells_nothing_has_none(self, monkeypatch):
        found = self.used(monkeypatch, Gpus(), seconds=0.03)
        assert found.gpu_memory_bytes is found.gpu_energy_joules is None
        assert found.gpu_clock_mhz is found.gpu_throttled is None

"""What the visible GPUs do at this moment, as far as their driver tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from trtspec.gpus import visible_handles

T = TypeVar("T")

_THROTTLES = {
    0x04: "software power cap",
    0x08: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
}
"""NVML's bits that mean the GPU is slower than it could be; idle is none.

They are nvmlClocksEventReason... SwPowerCap, HwSlowdown, SwThermalSlowdown,
HwThermalSlowdown and HwPowerBrakeSlowdown in nvidia-ml-py 13.615, which older versions
call nvmlClocksThrottleReason..., with the same bits.
"""


class GpuReader:
    """Reads the GPUs through NVML; what a board does not tell is None.

    :param nvml: the pynvml module, initialized.
    """

    def __init__(self, nvml: Any, handles: list[Any]) -> None:
        self._nvml = nvml
        self._handles = handles

    def memory_bytes(self) -> list[int] | None:
        """Give the device memory in use, per GPU."""
        return self._each(lambda h: int(self._nvml.nvmlDeviceGetMemoryInfo(h).used))

    def energy_joules(self) -> list[float] | None:
        """Give the energy used since the driver was loaded, per GPU."""
        return self._each(
            lambda h: self._nvml.nvmlDeviceGetTotalEnergyConsumption(h) / 1000
        )

    def clock_mhz(self) -> list[int] | None:
        """Give the SM clock, per GPU."""
        clock = self._nvml.NVML_CLOCK_SM
        return self._each(lambda h: int(self._nvml.nvmlDeviceGetClockInfo(h, clock)))

    def throttle_reasons(self) -> list[set[str]] | None:
        """Give why the clocks are held down, per GPU; empty sets if they are not."""
        bits = self._each(self._reasons("Event"))
        if bits is None:  # drivers before 535 know the older name only
            bits = self._each(self._reasons("Throttle"))
        if bits is None:
            return None
        return [{words for bit, words in _THROTTLES.items() if b & bit} for b in bits]

    def _reasons(self, kind: str) -> Callable[[Any], int]:
        name = f"nvmlDeviceGetCurrentClocks{kind}Reasons"
        return lambda handle: int(getattr(self._nvml, name)(handle))

    def _each(self, read: Callable[[Any], T]) -> list[T] | None:
        try:
            return [read(handle) for handle in self._handles]
        except (self._nvml.NVMLError, AttributeError):
            return None  # not told by this board, driver, or version of pynvml


@contextmanager
def open_gpus() -> Iterator[GpuReader | None]:
    """Give a reader of the visible GPUs; None where there are none."""
    try:
        import pynvml
    except ImportError:
        yield None
        return
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        yield None
        return
    try:
        handles = _handles(pynvml)
        yield GpuReader(pynvml, handles) if handles else None
    finally:
        pynvml.nvmlShutdown()


def _handles(nvml: Any) -> list[Any]:
    try:
        return visible_handles(nvml)
    except nvml.NVMLError:
        return []

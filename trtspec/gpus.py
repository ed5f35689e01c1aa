"""Which NVIDIA GPUs a program sees here; none is an answer, not an error."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

VISIBLE = "CUDA_VISIBLE_DEVICES"


class Gpu(BaseModel):
    """One GPU as its driver describes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(description="Product name.")
    memory_bytes: int = Field(description="Device memory.")
    driver: str = Field(description="Driver version.")
    compute_capability: str | None = Field(
        default=None, description="Such as 9.0 for Hopper."
    )
    sm_clock_mhz: int | None = Field(description="Clock of the SMs at the start.")
    power_limit_watts: float | None = Field(description="Enforced power limit.")


def find_gpus() -> tuple[tuple[Gpu, ...], str | None]:
    """List the GPUs that a program would see, or say why there are none to list.

    ``CUDA_VISIBLE_DEVICES`` chooses and orders them, by index or by the beginning of a
    UUID; what comes behind an entry that means none does not count, as for CUDA.
    Indices are the driver's, which are CUDA's where all GPUs are of one kind.
    """
    try:
        import pynvml
    except ImportError:
        return (), "nvidia-ml-py is not installed"
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return (), f"no NVIDIA driver: {error}"
    try:
        count = pynvml.nvmlDeviceGetCount()
        listed = os.environ.get(VISIBLE)
        gpus = tuple(_gpu(pynvml, handle) for handle in visible_handles(pynvml))
    except pynvml.NVMLError as error:
        return (), f"the NVIDIA driver does not answer: {error}"
    finally:
        pynvml.nvmlShutdown()
    if gpus:
        return gpus, None
    if count:
        return (), f"{VISIBLE}={listed} hides the {count} GPUs of this machine"
    return (), "the NVIDIA driver lists no GPU"


def visible_handles(nvml: Any) -> list[Any]:
    """Give the handles of the GPUs that a program would see; NVML is initialized."""
    count = nvml.nvmlDeviceGetCount()
    handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(count)]
    listed = os.environ.get(VISIBLE)
    return handles if listed is None else list(_visible(nvml, handles, listed))


def _visible(nvml: Any, handles: list[Any], listed: str) -> Iterator[Any]:
    """Give the GPUs that the variable names, in its order."""
    for entry in map(str.strip, listed.split(",")):
        if entry.isdigit():
            found = handles[int(entry) :][:1]
        elif entry.startswith("MIG-"):
            found = [nvml.nvmlDeviceGetHandleByUUID(entry.encode())]
        else:
            found = [h for h in handles if entry and _uuid(nvml, h).startswith(entry)]
        if len(found) != 1:
            return
        yield found[0]


def _uuid(nvml: Any, handle: Any) -> str:
    return _text(nvml.nvmlDeviceGetUUID(handle))


def _gpu(nvml: Any, handle: Any) -> Gpu:
    return Gpu(
        name=_text(nvml.nvmlDeviceGetName(handle)),
        memory_bytes=nvml.nvmlDeviceGetMemoryInfo(handle).total,
        driver=_text(nvml.nvmlSystemGetDriverVersion()),
        compute_capability=_compute_capability(nvml, handle),
        sm_clock_mhz=_clock(nvml, handle),
        power_limit_watts=_power_limit(nvml, handle),
    )


def _compute_capability(nvml: Any, handle: Any) -> str | None:
    try:
        major, minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
    except nvml.NVMLError:
        return None
    return f"{major}.{minor}"


def _clock(nvml: Any, handle: Any) -> int | None:
    try:
        return int(nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM))
    except nvml.NVMLError:
        return None  # not every board tells


def _power_limit(nvml: Any, handle: Any) -> float | None:
    try:
        return float(nvml.nvmlDeviceGetEnforcedPowerLimit(handle)) / 1000
    except nvml.NVMLError:
        return None


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value

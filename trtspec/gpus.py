"""Which NVIDIA GPUs this machine has; none is an answer, not an error."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


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
    """List the GPUs, or say why there are none to list."""
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
        gpus = tuple(_gpu(pynvml, index) for index in range(count))
    except pynvml.NVMLError as error:
        return (), f"the NVIDIA driver does not answer: {error}"
    finally:
        pynvml.nvmlShutdown()
    return gpus, None if gpus else "the NVIDIA driver lists no GPU"


def _gpu(nvml: Any, index: int) -> Gpu:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
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

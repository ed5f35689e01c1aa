"""Which GPUs does a stand-in of nvidia-ml-py list?"""

from __future__ import annotations

GPU = "stand-in GPU"
DRIVER = f"""
class NVMLError(Exception):
    pass


def refuse(*_):
    raise NVMLError("not supported")


class memory:
    total = 16 << 30


NVML_CLOCK_SM = 1
nvmlInit = nvmlShutdown = lambda: None
nvmlDeviceGetCount = lambda: {{count}}
nvmlDeviceGetHandleByIndex = lambda index: index
nvmlDeviceGetName = lambda handle: "{GPU}"
nvmlDeviceGetUUID = lambda handle: f"GPU-{{{{handle}}}}"
nvmlDeviceGetMemoryInfo = lambda handle: memory
nvmlSystemGetDriverVersion = lambda: "580.65"
nvmlDeviceGetCudaComputeCapability = lambda handle: (9, 0)
nvmlDeviceGetClockInfo = nvmlDeviceGetEnforcedPowerLimit = refuse
"""


def driver_text(gpus: int) -> str:
    """Give the module ``pynvml`` of a machine with so many GPUs, all of one kind."""
    return DRIVER.format(count=gpus)

"""Under which conditions was measured: machine, versions, environment."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil
from pydantic import Field, JsonValue

from trtspec import __version__
from trtspec.bench.records import Record
from trtspec.forced_acceptance import VARIABLES
from trtspec.gpus import Gpu, find_gpus

PACKAGES = (
    "torch",
    "transformers",
    "tokenizers",
    "safetensors",
    "numpy",
    "tensorrt",
    "tensorrt_llm",
)

ENVIRONMENT = (
    "OMP_NUM_THREADS",
    "OMP_PROC_BIND",
    "OMP_WAIT_POLICY",
    "GOMP_CPU_AFFINITY",
    "KMP_AFFINITY",
    "KMP_BLOCKTIME",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "ONEDNN_MAX_CPU_ISA",
    "CUDA_VISIBLE_DEVICES",
    "PYTORCH_CUDA_ALLOC_CONF",
    *(switch.name for switch in VARIABLES),
)
"""Variables that change speed, or force acceptance."""

IDLE_SECONDS = 0.5
_CPU_INFO = Path("/proc/cpuinfo")
_CGROUP_LIMIT = Path("/sys/fs/cgroup/cpu.max")


class Hardware(Record):
    """The machine, and how busy it was before the measurement."""

    cpu: str = Field(description="CPU model.")
    physical_cores: int | None = Field(description="Cores of the machine.")
    logical_cores: int | None = Field(description="Hardware threads of the machine.")
    usable_cores: int | None = Field(description="Those this process may run on.")
    cpu_quota: str | None = Field(description="cgroup limit, quota and period in us.")
    memory_bytes: int = Field(description="Memory of the machine.")
    available_bytes: int = Field(description="Memory available at the start.")
    load_average: tuple[float, float, float] = Field(
        description="Load over 1, 5, 15 minutes at the start; own builds included."
    )
    busy_cores: float = Field(
        description="Cores that other programs used just before the start."
    )
    gpus: tuple[Gpu, ...] = Field(description="NVIDIA GPUs.")
    no_gpus_because: str | None = Field(description="Why the list is empty.")


class Conditions(Record):
    """What a reader needs to reproduce the numbers, besides artifact and settings."""

    hardware: Hardware = Field(description="The machine.")
    system: str = Field(description="Operating system and kernel.")
    python: str = Field(description="Python version.")
    versions: dict[str, str | None] = Field(
        description="Installed packages; null: not installed."
    )
    environment: dict[str, str] = Field(
        description="Variables that are set and change speed."
    )
    runner: dict[str, JsonValue] = Field(description="What the engine says of itself.")


def record_conditions(runner: dict[str, JsonValue]) -> Conditions:
    """Look at the machine; takes half a second, to see whether it is idle.

    :param runner: what the engine says of itself.
    """
    return Conditions(
        hardware=_hardware(),
        system=platform.platform(),
        python=sys.version.split()[0],
        versions={
            "trtspec": __version__,
            **{name: installed_version(name) for name in PACKAGES},
        },
        environment={k: os.environ[k] for k in ENVIRONMENT if k in os.environ},
        runner=runner,
    )


def installed_version(package: str) -> str | None:
    """Give an installed package's version without importing it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _hardware() -> Hardware:
    memory = psutil.virtual_memory()
    gpus, reason = find_gpus()
    return Hardware(
        cpu=cpu_model(),
        physical_cores=psutil.cpu_count(logical=False),
        logical_cores=psutil.cpu_count(),
        usable_cores=_usable_cores(),
        cpu_quota=_cpu_quota(),
        memory_bytes=memory.total,
        available_bytes=memory.available,
        load_average=psutil.getloadavg(),
        busy_cores=busy_cores(),
        gpus=gpus,
        no_gpus_because=reason,
    )


def cpu_model(cpu_info: Path = _CPU_INFO) -> str:
    """Give the CPU's model name, or the architecture where it is not known."""
    try:
        lines = cpu_info.read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.split(":", 1)[1].strip() for line in lines if "model name" in line)
    return next(named, "") or platform.processor() or platform.machine()


def busy_cores() -> float:
    """Measure how many cores are busy while this process sleeps."""
    used = psutil.cpu_percent(interval=IDLE_SECONDS) / 100
    return round(used * (psutil.cpu_count() or 1), 2)


def _usable_cores() -> int | None:
    if not hasattr(os, "sched_getaffinity"):
        return None
    return len(os.sched_getaffinity(0))


def _cpu_quota() -> str | None:
    try:
        return _CGROUP_LIMIT.read_text().strip()
    except OSError:
        return None

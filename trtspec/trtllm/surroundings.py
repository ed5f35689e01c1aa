"""What signs of driver and container are on this machine: files and variables."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_CONTAINER_MARKS = ("/.dockerenv", "/run/.containerenv")
_DRIVER_MARK = "/dev/nvidiactl"
_COMPATIBILITY = "/usr/local/cuda/compat"
_LIBRARY = "libcuda.so*"
CAPABILITIES = "NVIDIA_DRIVER_CAPABILITIES"
VISIBLE = "NVIDIA_VISIBLE_DEVICES"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Signs of how GPUs come, or do not come, to this process.

    :param container: whether this is one.
    :param device: whether the driver's device file is there.
    :param nvidia_smi: the driver's program.
    :param compatibility: folder with a forward compatibility package of CUDA.
    :param stub: a ``libcuda`` for linking only that programs would load.
    :param visible: the variable by which NVIDIA's runtime gives GPUs to a container.
    :param capabilities: and which libraries of the driver.
    """

    container: bool = False
    device: bool = False
    nvidia_smi: str | None = None
    compatibility: str | None = None
    stub: str | None = None
    visible: str | None = None
    capabilities: str | None = None


def look_around(
    environment: Mapping[str, str] = os.environ, root: Path = Path("/")
) -> Surroundings:
    """Look; nothing is imported, started or opened.

    :param root: of the file system.
    """

    def at(path: str) -> Path:
        return root / path.lstrip("/")

    return Surroundings(
        container=any(at(mark).exists() for mark in _CONTAINER_MARKS),
        device=at(_DRIVER_MARK).exists(),
        nvidia_smi=shutil.which("nvidia-smi", path=environment.get("PATH")),
        compatibility=_COMPATIBILITY if _has_library(at(_COMPATIBILITY)) else None,
        stub=_stub(environment),
        visible=environment.get(VISIBLE),
        capabilities=environment.get(CAPABILITIES),
    )


def _stub(environment: Mapping[str, str]) -> str | None:
    """The first folder of the loader's path with a library, if it has stubs."""
    for name in filter(None, environment.get("LD_LIBRARY_PATH", "").split(":")):
        if _has_library(Path(name)):
            return name if "stubs" in Path(name).parts else None
    return None


def _has_library(folder: Path) -> bool:
    try:
        return any(folder.glob(_LIBRARY))
    except OSError:
        return False

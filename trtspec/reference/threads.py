"""How many CPU threads the engine uses."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import torch

from trtspec.errors import UsageError

_CGROUP_LIMIT = Path("/sys/fs/cgroup/cpu.max")


def default_threads() -> int:
    """``$OMP_NUM_THREADS`` if it is set, else one per physical core we may use.

    Hyper-threads only get in each other's way in matrix products, and a container's
    CPU quota counts, not the host's cores.
    """
    wished = os.environ.get("OMP_NUM_THREADS", "")
    if wished.isdecimal() and int(wished):
        return min(int(wished), os.cpu_count() or 1)
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    counts = [psutil.cpu_count(logical=False), allowed, _cgroup_cores()]
    return max(1, min(count for count in counts if count) if any(counts) else 1)


def _cgroup_cores() -> int | None:
    try:
        quota, period = _CGROUP_LIMIT.read_text().split()
        return max(1, int(quota) // int(period))
    except (OSError, ValueError):
        return None  # no cgroup v2, or "max": no limit


def use_threads(count: int | None) -> int:
    """Set torch's threads within an operation; returns the number in force.

    :raises UsageError: for more threads than the machine has processors.
    """
    most = os.cpu_count() or 1
    if count and count > most:
        raise UsageError(f"{count} threads", where="--threads", allowed=f"1 to {most}")
    torch.set_num_threads(count or default_threads())
    return torch.get_num_threads()

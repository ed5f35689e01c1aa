"""Which versions of the libraries are here that convert and quantize checkpoints."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

MODELOPT = "nvidia-modelopt"
LIBRARIES = (MODELOPT, "torch", "transformers")
"""What checkpoints are converted and quantized with."""


def library_inputs(names: Iterable[str] = LIBRARIES) -> dict[str, str]:
    """Give the versions of installed packages; "absent" where one is not there."""
    return {name: _version(name) for name in names}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"

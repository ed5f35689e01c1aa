"""Which of TensorRT-LLM's executables are on this machine."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

from trtspec.trtllm.installation import SERVER

BUILDER = "trtllm-build"
NOT_INSTALLED = "TensorRT-LLM is not installed"


def find_builder(package: Path | None) -> tuple[Path | None, str]:
    """Find ``trtllm-build``: the executable is one half, the package's part the other.

    :returns: the executable, or why there is no builder.
    """
    program, scripts = _program(BUILDER), sysconfig.get_path("scripts")
    module = package / "commands" / "build.py" if package else None
    has_module = module is not None and module.is_file()
    if program and has_module:
        return program, ""
    if has_module:
        return None, f"{module} is there, but no {BUILDER} on PATH or in {scripts}"
    missing = f"the package has no {module}" if module else NOT_INSTALLED
    if program:
        return None, f"{program} is there, but builds nothing: {missing}"
    return None, f"no {BUILDER} on PATH or in {scripts}, and {missing}"


def find_server(package: Path | None) -> tuple[Path | None, str]:
    """Find ``trtllm-serve``, which serves nothing without the package.

    :returns: the executable, or why there is no server.
    """
    if package is None:
        return None, NOT_INSTALLED
    if program := _program(SERVER):
        return program, ""
    return None, f"no {SERVER} on PATH or in {sysconfig.get_path('scripts')}"


def _program(name: str) -> Path | None:
    """Find an executable on PATH, or beside this Python: its folder may be on none."""
    beside = sysconfig.get_path("scripts")
    found = shutil.which(name) or shutil.which(name, path=beside)
    return Path(found) if found else None

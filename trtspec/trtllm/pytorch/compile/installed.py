"""What the installed TensorRT-LLM's own classes say to a configuration."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

from trtspec.build.command import die_with_us
from trtspec.errors import Problem
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.pytorch.compile.class_check import MARK

SECONDS = 300.0
"""How long the package may take to be imported; it loads torch and much else."""


def faults_by_classes(
    args: Mapping[str, Any], installation: Installation, *, seconds: float = SECONDS
) -> tuple[Problem, ...] | None:
    """Ask the installed classes what they refuse.

    :param args: what the YAML holds.
    :returns: problems whose ``where`` is the key's path with dots; None if the package
        is not here, cannot be imported, or does not answer in time.
    """
    if installation.assumed or installation.package is None:
        return None
    answer = _answer(args, installation.package, seconds)
    if answer is None:
        return None
    return tuple(Problem(each["what"], each["where"]) for each in answer)


def _answer(
    args: Mapping[str, Any], package: Path, seconds: float
) -> list[dict[str, str]] | None:
    import yaml

    process = subprocess.Popen(  # noqa: S603 - our interpreter, our text
        [sys.executable, "-c", _program()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(package),
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
        preexec_fn=die_with_us,  # noqa: PLW1509 - one system call, no locks
    )
    with process:
        try:
            output, _ = process.communicate(yaml.safe_dump(dict(args)), seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(ProcessLookupError):  # what it started ends with it
                os.killpg(process.pid, signal.SIGKILL)
    return _read(output)


def _program() -> str:
    return (files(__package__) / "class_check.py").read_text(encoding="utf-8")


def _environment(package: Path) -> dict[str, str]:
    """Put the package that was found before any other on the path."""
    folders = (str(package.absolute().parent), os.environ.get("PYTHONPATH", ""))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))}


def _read(output: str) -> list[dict[str, str]] | None:
    lines = [line for line in output.splitlines() if line.startswith(MARK)]
    if not lines:
        return None
    found: list[dict[str, str]] = json.loads(lines[-1].removeprefix(MARK))
    return found

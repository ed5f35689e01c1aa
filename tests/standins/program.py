"""What happens when one of the executables is called?"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

from packaging.version import Version

from tests.standins import failing
from tests.standins.machine import Machine
from tests.standins.voice import say
from trtspec.trtllm.versions import contains

STAGES = {"trtllm-build": "build", "quantize": "quantize"}
DEPRECATED = ">=1.2.0rc0"
"""Where convert and build warn; the first version that does is not established."""


def run(program: str, version: str, root: str, parser: argparse.ArgumentParser) -> int:
    """Note the call, parse it strictly, fail if asked to, else do the work."""
    machine, stage = Machine(Path(root)), STAGES.get(program, "convert")
    machine.record(program, stage, sys.argv[1:])
    arguments = vars(parser.parse_args())
    say(f"[TensorRT-LLM] TensorRT-LLM version: {version}")
    if contains(DEPRECATED, Version(version)):
        warnings.warn(
            "The legacy TensorRT engine workflow is deprecated", FutureWarning, 2
        )
    failure = failing.wanted(machine, program, stage)
    if failure:
        failing.fail(failure)
    _work(program, version, machine, arguments, failure)
    return 0


def _work(
    program: str,
    version: str,
    machine: Machine,
    arguments: dict[str, Any],
    failure: str | None,
) -> None:
    if failure == "no_output":
        return
    if program == "trtllm-build":
        from tests.standins.build import build

        build(version, machine, arguments, failure)
    elif program == "quantize":
        from tests.standins.quantize import quantize

        quantize(version, machine, arguments)
    else:
        from tests.standins.convert import convert

        convert(program, version, machine, arguments)

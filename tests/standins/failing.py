"""In which documented ways can a stand-in be made to fail?"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import NoReturn

from tests.standins.machine import Machine
from tests.standins.voice import say
from trtspec.trtllm import facts

ALIASES = {
    "out_of_memory": "gpu_out_of_memory",
    "no_space": "disk_full",
    "fc_bias": "eagle_head_without_bias",
}
UNDOCUMENTED = {
    "unknown": {"convert", "quantize", "build", "run"},
    "slow": {"convert", "quantize", "build"},
    "no_output": {"convert", "quantize", "build"},
    "no_engine": {"build"},
    "wrong_version": {"build"},
    "silent_change": {"build"},
    "silent_draft_length": {"build"},
    "silent_mode": {"build"},
    "silent_lengths": {"build"},
}
"""Names of our own, with the stages in which they can be asked for."""
SILENT = {"no_output", "no_engine", "wrong_version"} | {
    name for name in UNDOCUMENTED if name.startswith("silent_")
}
"""Those that exit with 0 and write something wrong."""
OF_ARGPARSE = {"unrecognized_arguments", "invalid_choice"}


UNKNOWN = "RuntimeError: something that nobody has documented"


def known() -> dict[str, set[str]]:
    """Every failure that can be asked for, with its stages."""
    documented = {failure.name: set(failure.stages) for failure in facts.failures()}
    return {**documented, **UNDOCUMENTED}


def message(name: str) -> str:
    """What is printed: the example that the facts give."""
    examples = {failure.name: failure.example for failure in facts.failures()}
    return examples.get(name, UNKNOWN)


def wanted(machine: Machine, program: str, stage: str) -> str | None:
    """The failure that this call is to show.

    :raises ValueError: no such failure is known.
    """
    if not machine.fail:
        return None
    where, _, name = machine.fail.rpartition(":")
    name = ALIASES.get(name, name)
    if name not in known():
        raise ValueError(f"no failure is called {name!r}")
    where, _, nth = where.partition("#")
    if where and where not in (program, stage):
        return None
    if nth and _calls(machine, where) != int(nth):
        return None
    return name if where or stage in known()[name] else None


def _calls(machine: Machine, where: str) -> int:
    calls = machine.calls_since_fail()
    return sum(where in (call["program"], call["stage"]) for call in calls)


def fail(name: str) -> None:
    """End the process in the documented way; the silent ones come back."""
    if name in SILENT:
        return
    if name == "slow":
        say("working ...")
        _sleep()
    if name == "killed":
        sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    say("Traceback (most recent call last):", sys.stderr)
    say(message(name), sys.stderr)
    raise SystemExit(2 if name in OF_ARGPARSE else 1)


def _sleep() -> NoReturn:
    while True:
        time.sleep(0.1)

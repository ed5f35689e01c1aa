"""In which ways can the server stand-in be made to fail?"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass

from tests.standins.machine import Machine
from tests.standins.voice import say

KNOWN = {
    "die_before_ready": "exits with 1 and a traceback while it loads",
    "never_ready": "goes on loading for ever",
    "slow_start": "listens after so many seconds",
    "die_after_tokens": "exits with 1 once so many tokens were sent",
    "hang_on_term": "ignores SIGTERM",
    "refuse_key": "refuses this key of the YAML",
    "out_of_memory": "exits with 1 and CUDA's message",
    "port_in_use": "cannot bind its port",
    "unhealthy": "answers /health with 503",
    "worker_outlives": "does not end its worker process",
}


@dataclass
class Failure:
    """What was asked for; ``name`` is empty if nothing was."""

    name: str = ""
    value: str = ""
    sent: int = 0

    def before_loading(self) -> None:
        """Fail as loading does."""
        if self.name == "die_before_ready":
            end("RuntimeError: Executor worker returned error")
        if self.name == "out_of_memory":
            end("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB.")
        while self.name == "never_ready":
            say("[TRT-LLM] [I] Loading weights ...")
            time.sleep(0.05)
        if self.name == "slow_start":
            time.sleep(float(self.value))

    def after_sending(self, tokens: int) -> None:
        """Fail in the middle of an answer."""
        self.sent += tokens
        if self.name == "die_after_tokens" and self.sent >= int(self.value):
            say("[TRT-LLM] [E] Error in event loop: CUDA error", sys.stderr)
            os._exit(1)


def wanted(machine: Machine) -> Failure:
    """The failure that was asked for.

    :raises ValueError: none is called so.
    """
    name, _, value = (machine.serve_fail or "").partition("=")
    if name and name not in KNOWN:
        raise ValueError(f"no failure of the server is called {name!r}")
    return Failure(name, value)


def end(message: str) -> None:
    """Exit as an unhandled error does."""
    say("Traceback (most recent call last):", sys.stderr)
    say(message, sys.stderr)
    raise SystemExit(1)

"""What do the stand-ins know of their machine, and what has been called on it?"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SELECTED = ("CUDA_VISIBLE_DEVICES", "PYTHONPATH", "BUILDER_FORCE_NUM_PROFILES")


@dataclass(frozen=True)
class Machine:
    """Settings and records below the root of an installation."""

    root: Path

    @property
    def _settings(self) -> Path:
        return self.root / "machine.json"

    @property
    def _log(self) -> Path:
        return self.root / "calls.jsonl"

    def create(self, gpus: int, fail: str | None) -> None:
        self._settings.write_text(json.dumps({"gpus": gpus, "fail": fail, "from": 0}))

    def _read(self) -> dict[str, Any]:
        return json.loads(self._settings.read_text())

    def set_fail(self, fail: str | None) -> None:
        changed = {"fail": fail, "from": len(self.calls())}
        self._settings.write_text(json.dumps({**self._read(), **changed}))

    @property
    def gpus(self) -> int:
        return int(os.environ.get("STANDIN_GPUS", self._read()["gpus"]))

    @property
    def capability(self) -> int:
        """Compute capability without the dot: 90 for 9.0."""
        major, _, minor = os.environ.get("STANDIN_GPU_CC", "9.0").partition(".")
        return 10 * int(major) + int(minor or 0)

    @property
    def fail(self) -> str | None:
        return os.environ.get("STANDIN_FAIL") or self._read()["fail"]

    def calls(self) -> list[dict[str, Any]]:
        if not self._log.exists():
            return []
        return [json.loads(line) for line in self._log.read_text().splitlines()]

    def calls_since_fail(self) -> list[dict[str, Any]]:
        return self.calls()[self._read()["from"] :]

    def record(self, program: str, stage: str, argv: list[str]) -> None:
        call = {
            "program": program,
            "stage": stage,
            "argv": argv,
            "cwd": os.getcwd(),
            "environment": {k: os.environ[k] for k in SELECTED if k in os.environ},
        }
        with self._log.open("a") as log:
            log.write(json.dumps(call) + "\n")

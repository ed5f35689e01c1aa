"""What do the stand-ins know of their machine, and what has been called on it?"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SERVE = "serve:"
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
        settings = {
            "gpus": gpus,
            "fail": None,
            "from": 0,
            "pace": 0.0,
            "serve_fail": None,
        }
        self._settings.write_text(json.dumps(settings))
        self.set_fail(fail)

    def _read(self) -> dict[str, Any]:
        return json.loads(self._settings.read_text())

    def set_fail(self, fail: str | None) -> None:
        serving = fail is not None and fail.startswith(SERVE)
        self._change(
            {
                "fail": None if serving else fail,
                "serve_fail": fail.removeprefix(SERVE) if fail and serving else None,
                "from": len(self.calls()),
            }
        )

    def set_pace(self, seconds: float) -> None:
        self._change({"pace": seconds})

    def _change(self, changed: dict[str, Any]) -> None:
        text = json.dumps({**self._read(), **changed})
        # other processes read it at any time
        scratch = self._settings.with_suffix(f".{os.getpid()}.new")
        scratch.write_text(text)
        scratch.replace(self._settings)

    @property
    def pace(self) -> float:
        """Least seconds that an iteration of the LLM takes."""
        return float(os.environ.get("STANDIN_PACE", self._read().get("pace", 0)))

    @property
    def serve_fail(self) -> str | None:
        """How ``trtllm-serve`` is to fail: a name, or ``name=value``."""
        return os.environ.get("STANDIN_SERVE_FAIL") or self._read().get("serve_fail")

    def note(self, event: str, **data: Any) -> None:
        """Record something that happened; never changed afterwards."""
        line = json.dumps({"event": event, "pid": os.getpid(), **data}) + "\n"
        with (self.root / "events.jsonl").open("a") as log:
            log.write(line)

    def events(self, event: str | None = None) -> list[dict[str, Any]]:
        """What happened, in order; of one kind only, or all."""
        path = self.root / "events.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        found = [json.loads(line) for line in lines]
        return [one for one in found if event in (None, one["event"])]

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

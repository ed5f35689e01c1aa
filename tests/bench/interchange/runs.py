"""Runs to export: measured with a scripted runner, or made of plain records."""

from __future__ import annotations

from pathlib import Path

from tests.bench.fakes import FakeRunner, plan, run
from trtspec.bench.rundir import BenchRun


def measured(path: Path, **changes: object) -> BenchRun:
    """A run of 8 prompts, 5 tokens each, that drafts 3 and accepts 1 in each step."""
    return run(FakeRunner(), plan(8, **changes), path / "run")

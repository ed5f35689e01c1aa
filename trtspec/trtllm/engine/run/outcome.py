"""What one advance of an engine brings."""

from __future__ import annotations

from dataclasses import dataclass, field

from trtspec.errors import Problem
from trtspec.run.types import Chunk, StepRecord
from trtspec.trtllm.engine.run.request import EngineRequest


@dataclass(slots=True)
class Outcome:
    """Chunks and records, and the requests that cannot go on, with the reason."""

    chunks: list[Chunk] = field(default_factory=list)
    records: list[StepRecord] = field(default_factory=list)
    failed: list[tuple[EngineRequest, Problem]] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        """Take in what another part brought."""
        self.chunks += other.chunks
        self.records += other.records
        self.failed += other.failed

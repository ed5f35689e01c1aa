"""What did an executor really do? For tests to compare with what is reported."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class RequestRecord:
    """One request.

    :ivar drafted: draft tokens as the metrics count them: the longest path per step.
    :ivar nodes: draft tokens that were verified, all branches.
    :ivar accepted: those that the verification accepted and the output could take.
    :ivar accepted_per_step: the same, step by step, where something was drafted.
    """

    id: int
    prompt: tuple[int, ...]
    max_tokens: int
    request: Any
    external_draft: tuple[int, ...] = ()
    output: list[int] = field(default_factory=list)
    drafted: int = 0
    nodes: int = 0
    accepted: int = 0
    accepted_per_step: list[int] = field(default_factory=list)
    steps: int = 0
    finish_reason: str = "NOT_FINISHED"
    error: str = ""


@dataclass
class ExecutorRecord:
    """One executor.

    :ivar paths: nodes of the tree that its own drafter proposes in every step.
    """

    engine: Path
    mode: int
    config: Any
    paths: tuple[tuple[int, ...], ...] = ()
    requests: list[RequestRecord] = field(default_factory=list)
    is_shut_down: bool = False

    @property
    def drafted(self) -> int:
        return sum(request.drafted for request in self.requests)

    @property
    def accepted(self) -> int:
        return sum(request.accepted for request in self.requests)

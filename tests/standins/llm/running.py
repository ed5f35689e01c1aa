"""What does the engine know of a request while it runs?"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from tests.standins.llm.request import RequestOutput
from tests.standins.llm.stream import TrueStream


@dataclass
class Running:
    """One request with its counts.

    :ivar steps: per decode iteration the drafted and the accepted tokens.
    """

    output: RequestOutput
    stream: TrueStream
    ends: frozenset[int]
    stops: list[tuple[int | str, list[int]]]
    limit: int
    tokens: list[int] = field(default_factory=list)
    steps: list[tuple[int, int]] = field(default_factory=list)
    iterations: int = 0
    first: int = 0
    finish_reason: str | None = None
    stop_reason: int | str | None = None
    dropped: int = 0
    times: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.mark("arrival_time")

    def mark(self, name: str) -> None:
        self.times.setdefault(name, time.monotonic())

    @property
    def id(self) -> int:
        return self.output.request_id

    @property
    def text(self) -> list[int]:
        return [*self.stream.prompt, *self.tokens]

    @property
    def drafted(self) -> int:
        return sum(drafted for drafted, _ in self.steps)

    @property
    def accepted(self) -> int:
        return sum(accepted for _, accepted in self.steps)

    def emit(self, tokens: list[int]) -> list[int]:
        """Take tokens up to the one that ends the request; those that were taken."""
        taken: list[int] = []
        for token in tokens:
            self.tokens.append(token)
            taken.append(token)
            if self._ends_here():
                break
        self.iterations += 1
        self.mark("first_token_time")
        self.times["last_token_time"] = time.monotonic()
        return taken

    def _ends_here(self) -> bool:
        least = self.output.sampling_params.min_tokens or 0
        if self.tokens[-1] in self.ends and len(self.tokens) > least:
            self.finish_reason = "stop"
        for reason, words in self.stops:
            if self.tokens[-len(words) :] == words:
                self.finish_reason, self.stop_reason = "stop", reason
                kept = self.output.sampling_params.include_stop_str_in_output
                self.dropped = 0 if kept else len(words)
        if self.finish_reason is None and len(self.tokens) >= self.limit:
            self.finish_reason = "length"
        return self.finish_reason is not None

    def record(self) -> dict[str, Any]:
        """For the tests: what was really done."""
        return {
            "id": self.id,
            "prompt": self.stream.prompt,
            "tokens": self.tokens,
            "finish_reason": self.finish_reason,
            "iterations": self.iterations,
            "steps": self.steps,
            "drafted": self.drafted,
            "accepted": self.accepted,
            "asked": self.output.sampling_params.asked(),
            "greedy": self.stream.sampling is None,
        }

"""How many tokens are drafted at a batch size? As each family means its keys."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.standins.llm.rules import get, length_of

TWO_MODEL = {"DraftTargetDecodingConfig", "NGramDecodingConfig"} | {
    "UserProvidedDecodingConfig"
}
"""Up to 1.2."""
NGRAM_LIKE = {"NGramDecodingConfig", "AutoDecodingConfig"}
FEW, MANY = 4, 32
"""Requests up to which AUTO drafts 5 tokens, and up to which 3."""


def is_two_model(config: Any, family: str) -> bool:
    """Whether drafter and target are two engines."""
    if family == "main":
        return False
    if type(config).__name__ in TWO_MODEL | NGRAM_LIKE:
        return True
    flags = ("eagle3_one_model", "mtp_eagle_one_model")
    return any(get(config, flag) is False for flag in flags)


def schedule_length(schedule: Mapping[int, int], batch: int, family: str) -> int:
    """1.2: the largest key not above the batch; main: the smallest not below it."""
    if family == "main":
        return next((schedule[key] for key in sorted(schedule) if key >= batch), 0)
    lower = [key for key in schedule if key <= batch]
    return schedule[max(lower)] if lower else 0


@dataclass
class DraftLengths:
    """What one engine drafts.

    :ivar most: of the engine, from its ``max_batch_size``; AUTO goes by it.
    """

    config: Any
    family: str
    most: int
    gate: Gate | None = field(init=False)

    def __post_init__(self) -> None:
        self.gate = make_gate(self.config, self.family)

    def at(self, batch: int) -> int:
        """Draft length for an iteration over so many requests."""
        if self.config is None or (self.gate and self.gate.closed):
            return 0
        if type(self.config).__name__ == "AutoDecodingConfig":
            return self._auto(batch)
        length = length_of(self.config, self.family == "main") or 1
        schedule = get(self.config, "draft_len_schedule")
        if schedule and (self.family == "main" or is_two_model(self.config, "1.2")):
            return schedule_length(schedule, batch, self.family)
        limit = get(self.config, "max_concurrency")
        return 0 if limit is not None and batch > limit else length

    def _auto(self, batch: int) -> int:
        decisive = batch if self.family == "1.0" else self.most
        if batch > MANY:
            return 0
        return 5 if decisive <= FEW else 3


@dataclass
class Gate:
    """Switches speculation off for good when too little is accepted.

    :ivar per_iteration: main feeds one rate per iteration; 1.2 one mean of accepted
        tokens per step for each finished request.
    """

    window: int
    threshold: float
    per_iteration: bool
    closed: bool = False
    seen: deque[float] = field(default_factory=deque)

    def add(self, value: float) -> None:
        self.seen.append(value)
        if len(self.seen) > self.window:
            self.seen.popleft()
        full = len(self.seen) == self.window
        self.closed |= full and sum(self.seen) / self.window < self.threshold


def make_gate(config: Any, family: str) -> Gate | None:
    """The gate that a configuration asks for, if its engine has one."""
    main = family == "main"
    keys = ("acceptance_rate_window_size", "acceptance_rate_threshold")
    if not main:
        keys = ("acceptance_window", "acceptance_length_threshold")
    window, threshold = (get(config, key) for key in keys)
    heeded = main or is_two_model(config, family)
    if not window or threshold is None or not heeded:
        return None
    return Gate(window, threshold, main)

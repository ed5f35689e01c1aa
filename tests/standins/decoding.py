"""What did the LLM stand-in really draft and accept? What metrics are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Decoding:
    """Truth from the engine's own records.

    :ivar iterations: number, batch, draft_length, joined, requests (id, drafted,
        accepted, emitted).
    :ivar requests: finished ones: id, prompt, tokens, iterations, steps (drafted and
        accepted of each decode iteration), drafted, accepted, asked, greedy.
    """

    iterations: list[dict[str, Any]]
    requests: list[dict[str, Any]]

    def total(self, key: str) -> int:
        """Sum of ``drafted``, ``accepted`` or ``emitted`` over all iterations."""
        return sum(r[key] for it in self.iterations for r in it["requests"])

    @property
    def drafting_steps(self) -> int:
        """Request steps in which something was drafted."""
        return sum(r["drafted"] > 0 for it in self.iterations for r in it["requests"])

    @property
    def steps(self) -> int:
        """Request steps, those without a draft included, prompts not."""
        return sum(len(it["requests"]) for it in self.iterations)

"""What greedy parity found: differences, comparisons, and what follows from them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from trtspec.bench.records import Record
from trtspec.verify.greedy.shares import Share
from trtspec.verify.greedy.tolerance import Tolerance

Kind = Literal["near tie", "divergence", "cannot tell"]
Source = Literal["logits", "logprobs", "off itself", "nothing"]
Verdict = Literal["pass", "fail", "cannot tell"]


class Difference(Record):
    """Where a prompt's two outputs part, and what the off arm thought there."""

    prompt_id: str = Field(description="Id of the prompt.")
    position: int = Field(
        ge=0, description="Index of the first token that differs; character of a text."
    )
    off: int | str | None = Field(description="Token of the off arm; null: ended.")
    on: int | str | None = Field(description="That of the other arm; null: ended.")
    kind: Kind = Field(description="near tie, real divergence, or cannot tell.")
    source: Source = Field(
        description="What tells the gap: the off arm's logits; its log probabilities; "
        "off itself, which took the other token at another batch size; nothing."
    )
    gap: float | None = Field(
        default=None,
        description="The off arm's logit of its own token less that of the other.",
    )
    at_least: bool = Field(
        default=False,
        description="Whether the gap is only known to be larger than this.",
    )
    tolerance: float | None = Field(
        default=None, description="Largest gap of a near tie here."
    )


class Comparison(Record):
    """One run of an arm against the off arm's first run, up to each first difference.

    Behind it nothing is compared: the texts part ways, and say nothing of each other.
    """

    arm: str = Field(description="The arm that is compared.")
    concurrency: int = Field(ge=1, description="Its requests at once.")
    off_concurrency: int = Field(ge=1, description="Those of the off arm's run.")
    prompts: int = Field(ge=1, description="Prompts compared.")
    by: Literal["token ids", "texts of tokens", "text"] = Field(
        description="What is compared; equal texts can hide unequal ids."
    )
    tokens: int | None = Field(
        description="Tokens compared: of each prompt those up to the first difference; "
        "null: only text is told."
    )
    identical: Share = Field(description="Prompts with the same output.")
    near_ties: Share = Field(description="Prompts that part at a near tie.")
    divergences: Share = Field(description="Prompts that part for real.")
    unknown: Share = Field(description="Prompts whose difference cannot be told.")
    drafted: int | None = Field(description="Draft tokens; null: not told.")
    accepted: int | None = Field(description="Of them accepted; null: not told.")
    differences: tuple[Difference, ...] = Field(
        description="One per prompt that parts."
    )

    @property
    def per_thousand(self) -> float | None:
        """Near ties per 1,000 tokens compared."""
        if not self.tokens:
            return None
        return 1000 * self.near_ties.count / self.tokens


class GreedyParity(Record):
    """Greedy output with speculation on, compared with off by token ids."""

    verdict: Verdict = Field(description="pass, fail or cannot tell.")
    reasons: tuple[str, ...] = Field(description="Why not pass, or what limits it.")
    tolerance: Tolerance = Field(description="What counts as a near tie.")
    max_tokens: int = Field(ge=1, description="Most tokens of an answer.")
    comparisons: tuple[Comparison, ...] = Field(
        description="On against off, one per concurrency."
    )
    floor: tuple[Comparison, ...] = Field(
        description="Off against off at other batch sizes: what differs without "
        "speculation."
    )

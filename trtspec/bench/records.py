"""What is kept of a measurement before anything is computed from it: raw records."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Arm = Literal["off", "on"]
ARMS: tuple[Arm, Arm] = ("off", "on")
WARM_UP_BLOCK = 0
"""Block number of the warm-up; counted blocks start at 1."""

_WARM_UP_ROUNDS = 2


def warm_up_prompts(concurrency: int, prompts: int, *, cached: bool) -> int:
    """How many of the first prompts the warm-up block runs.

    Twice as many as are in flight: every slot is taken, left and taken again. All of
    them where a prompt that ran before costs less: else the arm that comes first
    would pay for the other.

    :param cached: whether the runner finds earlier prompts in its KV cache.
    """
    return prompts if cached else min(prompts, _WARM_UP_ROUNDS * concurrency)


class Record(BaseModel):
    """A frozen part of result.json; unknown keys are refused when it is loaded."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Sample(Record):
    """One request of one counted block; all times in seconds."""

    arm: Arm = Field(description="Speculation off or on.")
    block: int = Field(ge=1, description="Counted block it belongs to, from 1.")
    concurrency: int = Field(ge=1, description="Requests kept in flight.")
    prompt_id: str = Field(description="Id of the prompt in the prompts file.")
    category: str = Field(description="Category of the prompt in the prompts file.")
    prompt_tokens: int = Field(ge=1, description="Prompt length in token ids.")
    output_tokens: int = Field(ge=1, description="Emitted token ids.")
    submitted: float = Field(description="Submission, from the start of its block.")
    ttft: float = Field(description="Submission to first token.")
    tpot: float | None = Field(
        description="(last - first token time) / (tokens - 1); null for one token."
    )
    e2e: float = Field(description="Submission to last token.")
    steps: int = Field(ge=0, description="Verification steps; the prefill is none.")
    drafted: int = Field(ge=0, description="Draft tokens proposed.")
    accepted: int = Field(ge=0, description="Draft tokens that became output.")
    finish_reason: Literal["stop", "length"] = Field(description="Why it ended.")
    tokens_sha256: str = Field(description="SHA-256 of the emitted token ids.")
    tokens: tuple[int, ...] | None = Field(
        default=None, description="Emitted token ids; kept for block 1 of each arm."
    )
    lossy: str = Field(
        default="",
        description="Why the output need not be the target's own; empty if it is.",
    )


class StepTimes(Record):
    """Sums over the engine steps of one kind in one block; all times in seconds."""

    steps: int = Field(default=0, description="Engine steps (a step serves a batch).")
    seconds: float = Field(default=0.0, description="Whole steps.")
    draft_seconds: float = Field(default=0.0, description="Proposing draft tokens.")
    draft_forward_seconds: float = Field(
        default=0.0, description="Part of it in a draft model's forward."
    )
    forward_seconds: float = Field(default=0.0, description="Target model's forward.")
    drafted: int = Field(default=0, description="Draft tokens proposed.")
    accepted: int = Field(default=0, description="Draft tokens accepted.")
    emitted: int = Field(default=0, description="Tokens emitted.")


class Block(Record):
    """One pass over all prompts in one arm."""

    arm: Arm = Field(description="Speculation off or on.")
    block: int = Field(ge=0, description="0 is the warm-up, counted ones start at 1.")
    concurrency: int = Field(ge=1, description="Requests kept in flight.")
    order: int = Field(ge=0, description="Position in the order of execution, from 0.")
    started: str = Field(description="UTC time of the first submission, ISO 8601.")
    wall_seconds: float = Field(gt=0, description="First submission to last token.")
    requests: int = Field(ge=1, description="Requests finished; none failed.")
    output_tokens: int = Field(ge=1, description="Token ids emitted.")
    prefill: StepTimes = Field(description="Steps that took in prompts.")
    decode: StepTimes = Field(description="Verification steps.")

    @property
    def warm_up(self) -> bool:
        """Whether the block is left out of every number."""
        return self.block == WARM_UP_BLOCK

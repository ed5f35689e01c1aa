"""What is kept of a measurement before anything is computed from it: raw records."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from trtspec.run import DraftStep

WARM_UP_BLOCK = 0
"""Block number of the warm-up; counted blocks start at 1."""

_WARM_UP_ROUNDS = 2

_LONGEST_SECONDS = 1e9
"""Thirty years: nothing that was measured took longer."""

Role = Literal["baseline", "control", "candidate"]
"""The off arm; the same once more, to see what differs by chance; what is compared."""


def warm_up_prompts(in_flight: int, prompts: int, *, cached: bool) -> int:
    """How many of the first prompts the warm-up block runs.

    Twice as many as are in flight: every slot is taken, left and taken again. All of
    them where a prompt that ran before costs less: else the arm that comes first
    would pay for the other.

    :param cached: whether the runner finds earlier prompts in its KV cache.
    """
    return prompts if cached else min(prompts, _WARM_UP_ROUNDS * in_flight)


class Record(BaseModel):
    """A frozen part of result.json; unknown keys are refused when it is loaded."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def rate_text(rate: float) -> str:
    """Write a rate as short as it can be without being taken for another one."""
    short = f"{rate:g}"
    return short if float(short) == rate else repr(rate)


class Load(Record):
    """How requests are sent: one cell of the measurement."""

    arrivals: Literal["closed", "poisson", "fixed"] = Field(
        default="closed",
        description="closed: the next request is sent when one finishes; poisson and "
        "fixed: at times that do not wait for answers (open loop).",
    )
    concurrency: int | None = Field(
        default=None, ge=1, description="Requests kept in flight; closed loop only."
    )
    rate: float | None = Field(
        default=None, gt=0, description="Requests per second; open loop only."
    )
    category: str = Field(
        default="", description="Only prompts of this category; empty: all of them."
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Load:
        closed = self.arrivals == "closed"
        if closed != (self.concurrency is not None) or closed == (
            self.rate is not None
        ):
            raise ValueError("a closed loop has a concurrency, an open one a rate")
        return self

    @property
    def key(self) -> str:
        """Name it in files: ``c4``, ``poisson2.5``, ``c4:code``."""
        closed = self.arrivals == "closed"
        how = f"c{self.concurrency}"
        if not closed:
            how = f"{self.arrivals}{rate_text(self.rate or 0)}"
        return f"{how}:{self.category}" if self.category else how

    @property
    def words(self) -> str:
        """Name it for a reader."""
        how = f"concurrency {self.concurrency}"
        if self.arrivals != "closed":
            spaced = "Poisson" if self.arrivals == "poisson" else "evenly spaced"
            how = f"{rate_text(self.rate or 0)} requests/s, {spaced}"
        return f"{how}, {self.category}" if self.category else how


class Sample(Record):
    """One request of one counted block; all times in seconds."""

    arm: str = Field(description="Name of the arm.")
    block: int = Field(ge=1, description="Counted block it belongs to, from 1.")
    load: str = Field(description="Key of the load, such as c4.")
    prompt_id: str = Field(description="Id of the prompt in the prompts file.")
    category: str = Field(description="Category of the prompt in the prompts file.")
    prompt_tokens: int | None = Field(
        ge=1, description="Prompt length in tokens; null if the server does not say."
    )
    output_tokens: int = Field(ge=1, description="Emitted tokens.")
    late: float = Field(
        default=0.0, description="Sent so long after its time; 0 in a closed loop."
    )
    submitted: float = Field(description="Submission, from the start of its block.")
    ttft: float = Field(
        ge=0, le=_LONGEST_SECONDS, description="Submission to first token."
    )
    tpot: float | None = Field(
        description="(last - first token time) / (tokens - 1); null for one token."
    )
    e2e: float = Field(
        ge=0, le=_LONGEST_SECONDS, description="Submission to last token."
    )
    chunks: tuple[tuple[float, int | None], ...] = Field(
        default=(),
        description="Each chunk: seconds since submission, and its tokens; null if the "
        "server does not say how many.",
    )
    steps: int | None = Field(
        default=None,
        ge=0,
        description="Verification steps; the prefill is none. Null if not told.",
    )
    drafted: int | None = Field(
        default=None, ge=0, description="Draft tokens proposed; null if not told."
    )
    accepted: int | None = Field(
        default=None, ge=0, description="Of them became output; null if not told."
    )
    draft_steps: tuple[DraftStep, ...] | None = Field(
        default=None,
        description="Each verification step: drafted, depth, accepted; null where the "
        "engine does not tell single steps.",
    )
    finish_reason: str = Field(description="Why it ended: stop or length.")
    output_sha256: str = Field(
        description="SHA-256 of the emitted token ids; of the text where no ids are."
    )
    tokens: tuple[int, ...] | None = Field(
        default=None, description="Emitted token ids; kept for block 1 of each arm."
    )
    text: str | None = Field(
        default=None, description="Emitted text; kept for block 1 where no ids are."
    )
    lossy: str = Field(
        default="",
        description="Why the output need not be the target's own; empty if it is.",
    )


class Failure(Record):
    """A request that brought no answer; its whole cell then has no numbers."""

    arm: str = Field(description="Name of the arm.")
    block: int = Field(ge=0, description="Block it belongs to; 0 is the warm-up.")
    load: str = Field(description="Key of the load.")
    prompt_id: str = Field(description="Id of the prompt; empty: the whole engine.")
    what: str = Field(description="What happened.")


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


class Resources(Record):
    """What the machine did during a block; null where nothing could be read."""

    cpu_seconds: float | None = Field(
        default=None, description="CPU time of this process and its children."
    )
    memory_bytes: int | None = Field(
        default=None, description="Most resident memory seen, children included."
    )
    gpu_memory_bytes: tuple[int, ...] | None = Field(
        default=None, description="Most memory in use, per GPU."
    )
    gpu_energy_joules: tuple[float, ...] | None = Field(
        default=None, description="Energy used, per GPU."
    )
    gpu_clock_mhz: tuple[tuple[int, int], ...] | None = Field(
        default=None, description="Slowest and fastest SM clock seen, per GPU."
    )
    gpu_throttled: tuple[tuple[str, ...], ...] | None = Field(
        default=None, description="Reasons for which clocks were held down, per GPU."
    )


class Block(Record):
    """One pass over all prompts in one arm."""

    arm: str = Field(description="Name of the arm.")
    block: int = Field(ge=0, description="0 is the warm-up, counted ones start at 1.")
    load: str = Field(description="Key of the load, such as c4.")
    order: int = Field(ge=0, description="Position in the order of execution, from 0.")
    started: str = Field(description="UTC time of the first submission, ISO 8601.")
    wall_seconds: float = Field(gt=0, description="First submission to last token.")
    requests: int = Field(ge=1, description="Requests finished; none failed.")
    prompt_tokens: int | None = Field(
        default=None, ge=1, description="Prompt tokens; null if not told."
    )
    output_tokens: int = Field(ge=1, description="Tokens emitted.")
    prefill: StepTimes | None = Field(
        default=None, description="Steps that took in prompts; null if not told."
    )
    decode: StepTimes | None = Field(
        default=None, description="Verification steps; null if not told."
    )
    resources: Resources = Field(default=Resources(), description="The machine.")

    @property
    def warm_up(self) -> bool:
        """Whether the block is left out of every number."""
        return self.block == WARM_UP_BLOCK

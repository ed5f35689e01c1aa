"""What is computed from the raw records: per load, per arm, and arm against arm."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from trtspec.bench.metrics.base import Percentiles
from trtspec.bench.outputs import Outputs
from trtspec.bench.ratio import Interval, Ratio
from trtspec.bench.records import Failure, Load, Record
from trtspec.bench.verdict import Verdict


class Acceptance(Record):
    """Counts of drafting over some requests, and what follows from them."""

    requests: int = Field(ge=0, description="Requests counted.")
    steps: int = Field(ge=0, description="Verification steps of those requests.")
    drafted: int = Field(ge=0, description="Draft tokens proposed in those steps.")
    accepted: int = Field(ge=0, description="Of them became output.")
    rate: float | None = Field(description="accepted / drafted; null if none drafted.")
    length: float | None = Field(description="1 + accepted / steps; null without any.")


class Position(Record):
    """What became of the k-th draft token of a step; of a tree, of its k-th level."""

    position: int = Field(ge=1, description="k, from 1.")
    offered: int = Field(ge=0, description="Steps whose draft was at least k deep.")
    reached: int = Field(
        ge=0, description="Of them accepted at least k - 1 draft tokens."
    )
    accepted: int = Field(ge=0, description="Of them accepted at least k.")
    share: float | None = Field(description="accepted / offered.")
    conditional: float | None = Field(description="accepted / reached.")
    interval: Interval | None = Field(
        description="95 % interval of the conditional rate (Wilson)."
    )


class ArmSummary(Record):
    """One arm under one load; keys are the metrics' tags."""

    values: dict[str, float | None] = Field(description="Metrics with one value.")
    percentiles: dict[str, Percentiles] = Field(description="Metrics per request.")
    in_flight: float = Field(
        description="Mean number of requests in flight: sum of E2E / wall seconds."
    )
    acceptance: Acceptance | None = Field(
        default=None, description="All requests; null if the engine does not tell."
    )
    positions: tuple[Position, ...] = Field(
        default=(), description="By position in the draft; empty if not told."
    )
    categories: dict[str, Acceptance] = Field(
        default_factory=dict, description="By category of the prompt."
    )
    contexts: dict[str, Acceptance] = Field(
        default_factory=dict,
        description="By tokens of context at the step, such as '0-255'.",
    )


class Doubt(Record):
    """Something that takes a claim away, or qualifies it."""

    id: str = Field(description="Short name, such as forced-acceptance.")
    what: str = Field(description="What was seen, with its numbers.")
    fatal: bool = Field(description="Whether no claim may be made because of it.")


class Comparison(Record):
    """One arm against the baseline under one load."""

    ratios: dict[str, Ratio | None] = Field(
        description="Arm / baseline, by metric and percentile: output_throughput, "
        "ttft.p50, e2e.p95, ... All null where a fatal doubt takes their meaning away."
    )
    outputs: Outputs = Field(description="Tokens compared.")
    verdict: Verdict = Field(description="What may be said.")
    lossy: str = Field(
        default="",
        description="Why outputs of the arm need not be the target's own; empty if "
        "they are.",
    )
    doubts: tuple[Doubt, ...] = Field(
        default=(), description="What speaks against the numbers."
    )


class Control(Record):
    """The baseline against itself: what differs by chance alone."""

    comparison: Comparison = Field(description="Off again / off.")
    visible: float | None = Field(
        description="Smallest relative difference of output throughput that this "
        "design would find in four of five runs; null if it cannot be told."
    )


class Cell(Record):
    """One load: every arm and its comparison, or the reason for neither."""

    load: Load = Field(description="How requests were sent.")
    failures: tuple[Failure, ...] = Field(
        default=(), description="Requests without an answer: the cell has no numbers."
    )
    incomplete: bool = Field(
        default=False, description="Too few blocks ran for any comparison."
    )
    blocks: int = Field(
        default=0, ge=0, description="Counted rounds that every arm has."
    )
    arms: dict[str, ArmSummary] = Field(
        default_factory=dict, description="By name of the arm."
    )
    comparisons: dict[str, Comparison] = Field(
        default_factory=dict, description="By name of the candidate."
    )
    control: Control | None = Field(default=None, description="A/A, if it was run.")


class BreakEven(Record):
    """From which concurrency on speculation no longer pays."""

    kind: Literal["crossing", "always faster", "always slower", "no claim"] = Field(
        description="crossing: faster below, slower above."
    )
    concurrency: float | None = Field(
        default=None, description="Where the throughput ratio crosses 1."
    )
    interval: Interval | None = Field(
        default=None, description="95 % interval of it, within the measured ladder."
    )
    reason: str = Field(default="", description="Why no claim can be made.")

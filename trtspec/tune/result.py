"""What a tuning found: the document that it leaves."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import ConfigDict, Field, JsonValue

from trtspec.bench.conditions import Conditions
from trtspec.bench.records import Record
from trtspec.bench.result import PromptSet
from trtspec.tune.bill import Bill
from trtspec.tune.costs import Source

SCHEMA: Final = "trtspec/tune/v1"
Word = Literal["faster", "slower", "no difference", "no claim"]
Interval = tuple[float, float]


class Shown(Record):
    """One draft length at one batch size, as the cost model has it."""

    length: int = Field(ge=0, description="Draft tokens per step; 0: plain decoding.")
    tokens_per_step: float = Field(ge=1, description="Of one request, with the bonus.")
    step_seconds: float = Field(gt=0, description="Of the whole batch.")
    throughput: float = Field(gt=0, description="Tokens per second, decoding alone.")
    tpot: float = Field(gt=0, description="Seconds per token of a request.")
    gain: float = Field(gt=0, description="Throughput / that of plain decoding.")
    interval: Interval | None = Field(
        description="95 % interval of the gain; null with one prompt only."
    )


class Measurement(Record):
    """What a paired bench said of one arm under one load."""

    gain: float = Field(gt=0, description="Throughput on / off.")
    interval: Interval | None = Field(description="Its 95 % interval.")
    word: Word = Field(description="faster, slower, no difference or no claim.")
    acceptance_length: float | None = Field(
        default=None, description="Tokens per step, bonus included."
    )


class LoadChoice(Record):
    """What is chosen for one load."""

    concurrency: int = Field(ge=1, description="Requests in flight.")
    length: int = Field(ge=0, description="Draft length with as many running.")
    plain: float = Field(
        gt=0, description="Predicted tokens per second without drafts."
    )
    predicted: float = Field(gt=0, description="The same with the chosen lengths.")
    of_length: int = Field(
        ge=1,
        description="Draft length that gain, interval and measured are of: the chosen "
        "one, or where nothing is drafted the best that there is.",
    )
    gain: float = Field(
        gt=0, description="Predicted throughput / that of plain decoding."
    )
    interval: Interval | None = Field(
        description="95 % interval of the gain: the choice of prompts, and the noise "
        "of the step costs; null with one prompt only."
    )
    tpot: float = Field(gt=0, description="Predicted seconds per token of a request.")
    acceptance_length: float | None = Field(description="Predicted.")
    priced: bool = Field(
        default=False,
        description="Whether the times of steps were measured nowhere: then nothing is "
        "claimed before a bench.",
    )
    doubted: bool = Field(
        default=False,
        description="Whether a bench gave no ratio: then nothing is claimed.",
    )
    measured: Measurement | None = Field(
        default=None, description="What the bench said of the same choice."
    )

    @property
    def word(self) -> Word:
        """What may be said of this load: the measurement's word goes first."""
        if self.measured is not None:
            return self.measured.word
        if self.interval is None or self.priced or self.doubted:
            return "no claim"
        low, high = self.interval
        if low > 1:
            return "faster"
        return "slower" if high < 1 else "no claim"


class BreakEvenBatch(Record):
    """Up to which batch size drafting pays."""

    batch: float | None = Field(
        description="Where the best gain falls to 1; null: not within the table."
    )
    low: float | None = Field(description="The same of the interval's lower end.")
    high: float | None = Field(description="The same of the interval's upper end.")


class CandidateResult(Record):
    """What was found out about one method."""

    name: str = Field(description="Name in tables.")
    recipe: str = Field(description="Name of its recipe.")
    fingerprint: str = Field(description="Fingerprint of its artifact.")
    speculation: dict[str, JsonValue] = Field(
        description="Method and parameters, with the longest draft looked at."
    )
    cut_anywhere: bool = Field(
        description="Whether one trace told of every length; else of this setting only."
    )
    draft_length: int | dict[int, int] | None = Field(
        description="Chosen, as a recipe says it; of a tree its nodes; null: do not "
        "speculate."
    )
    tree: tuple[tuple[int, ...], ...] | None = Field(
        default=None, description="The chosen tree, as a recipe says it."
    )
    surface: dict[int, tuple[Shown, ...]] = Field(description="By batch size.")
    loads: tuple[LoadChoice, ...] = Field(description="The workload's loads.")
    by_category: dict[str, dict[int, int]] = Field(
        default_factory=dict,
        description="Lengths that each category alone would get, by batch size.",
    )
    break_even: BreakEvenBatch = Field(description="Where drafting stops to pay.")


class Disagreement(Record):
    """Where the bench said something else than the prediction."""

    concurrency: int = Field(ge=1, description="Requests in flight.")
    arm: str = Field(description="Which arm of the bench.")
    predicted: float = Field(gt=0, description="Throughput / that of plain decoding.")
    measured: Measurement = Field(description="What the bench said.")


class Confirmation(Record):
    """The bench that the choice was confirmed with."""

    run: str = Field(description="Its directory, beside this document.")
    exhaustive: bool = Field(description="Whether every draft length was an arm.")
    changed: tuple[str, ...] = Field(
        description="What the measurement changed in the choice, in words."
    )
    disagreements: tuple[Disagreement, ...] = Field(
        description="Predictions outside of the measured interval."
    )
    regret: dict[int, float] = Field(
        default_factory=dict,
        description="By load: 1 - throughput of the chosen length / that of the best "
        "one, both measured in the exhaustive bench.",
    )


class TuneResult(Record):
    """A whole tuning."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    schema_: Literal["trtspec/tune/v1"] = Field(
        default=SCHEMA, alias="schema", description="Schema version."
    )
    name: str = Field(description="Name of the tuning.")
    started: str = Field(description="UTC time of the start, ISO 8601.")
    command: tuple[str, ...] = Field(
        default=(), description="The arguments of trtspec tune that began it."
    )
    costs: Source = Field(description="Where the times of steps come from.")
    hardware: str = Field(description="What the times hold for.")
    notes: tuple[str, ...] = Field(
        default=(), description="What has to be said of traces and costs."
    )
    tpot_limit: float | None = Field(
        default=None, description="Most seconds per token of a request that are wanted."
    )
    hourly: float | None = Field(
        default=None, description="Price of the machine per hour."
    )
    output_tokens: int = Field(ge=1, description="Most tokens per answer.")
    prompts: PromptSet = Field(description="With which prompts.")
    conditions: Conditions = Field(description="Under which conditions.")
    candidates: tuple[CandidateResult, ...] = Field(
        min_length=1, description="The one that gains most first."
    )
    bill: Bill = Field(description="What it cost.")
    confirmation: Confirmation | None = Field(
        default=None, description="The bench, if it was run."
    )

    @property
    def best(self) -> CandidateResult:
        """The candidate that is chosen."""
        return self.candidates[0]


def json_schema() -> dict[str, Any]:
    """Give the JSON Schema of the document."""
    return TuneResult.model_json_schema(by_alias=True)

"""What result.json holds: conditions, cells, and what follows from them."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from trtspec.bench.arms import ArmInfo
from trtspec.bench.break_even import DRAWS, SEED
from trtspec.bench.cells import BreakEven, Cell, Doubt
from trtspec.bench.conditions import Conditions
from trtspec.bench.records import Load, Record
from trtspec.bench.spread import CONFIDENCE

SCHEMA: Final = "trtspec/bench/v2"


class PromptSet(Record):
    """Which prompts were used."""

    file: str = Field(description="Name of the prompts file.")
    sha256: str = Field(description="SHA-256 of that file.")
    count: int = Field(ge=1, description="Prompts used: the first ones of the file.")
    rendered_sha256: str | None = Field(
        default=None,
        description="SHA-256 of all prompts as the model saw them: token ids through "
        "the chat template, thinking mode included. Null where only the server knows.",
    )
    messages_sha256: str | None = Field(
        default=None, description="SHA-256 of all conversations as they are sent."
    )
    turns: str = Field(
        default="first",
        description="first: one request per conversation. all: one per user turn; the "
        "answers before it are fixed and the same in all arms.",
    )
    doubts: tuple[Doubt, ...] = Field(
        default=(), description="What speaks against these prompts."
    )


class Settings(Record):
    """How it was measured."""

    loads: tuple[Load, ...] = Field(description="One cell each, in this order.")
    repeats: int = Field(ge=1, description="Counted blocks per arm and load.")
    control: bool = Field(description="Whether the off arm is run once more per round.")
    warm_up_blocks: int = Field(
        default=1, description="Uncounted short blocks per arm."
    )
    prompts_cached: bool = Field(
        default=False,
        description="Whether every prompt was in the KV cache before it was measured, "
        "in all arms.",
    )
    output_tokens: int = Field(ge=1, description="Most tokens per request.")
    fixed_length: bool = Field(
        default=False, description="Whether answers go on past their natural end."
    )
    temperature: float = Field(ge=0, description="0 is greedy.")
    top_k: int = Field(ge=0, description="0 keeps all tokens.")
    top_p: float = Field(gt=0, description="1 keeps all tokens.")
    seed: int = Field(ge=0, description="Of the first prompt; the next has one more.")
    arrival_seed: int = Field(default=0, ge=0, description="Of an open loop's times.")
    goodput: dict[str, float] = Field(
        default_factory=dict,
        description="Limits in seconds that a good request keeps: ttft, tpot, e2e.",
    )
    confidence: float = Field(default=CONFIDENCE, description="Of the intervals.")
    break_even_draws: int = Field(
        default=DRAWS, description="Ladders drawn for the interval of a break-even."
    )
    break_even_seed: int = Field(default=SEED, description="Of these draws.")

    @property
    def greedy(self) -> bool:
        """Whether decoding took the most likely token."""
        return self.temperature == 0


class Plan(Record):
    """What is to be measured: fixed and written down before the first request."""

    name: str = Field(description="Name of the run.")
    started: str = Field(description="UTC time of the start, ISO 8601.")
    command: tuple[str, ...] = Field(
        default=(), description="The arguments of trtspec bench that began it."
    )
    arms: tuple[ArmInfo, ...] = Field(description="The baseline first.")
    prompts: PromptSet = Field(description="With which prompts.")
    settings: Settings = Field(description="How.")
    conditions: Conditions = Field(description="Under which conditions.")

    @property
    def baseline(self) -> ArmInfo | None:
        """The arm that the others are compared with; None if there is none."""
        return next((a for a in self.arms if a.role == "baseline"), None)

    @property
    def candidates(self) -> tuple[ArmInfo, ...]:
        """The arms that are compared with it."""
        return tuple(a for a in self.arms if a.role == "candidate")


class BenchResult(Record):
    """A whole benchmark; ``cells`` follows from the raw records beside it."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    schema_: Literal["trtspec/bench/v2"] = Field(
        default=SCHEMA, alias="schema", description="Schema version."
    )
    plan: Plan = Field(description="What was measured, and how.")
    finished: str = Field(description="UTC time of the end, ISO 8601.")
    partial: bool = Field(
        default=False, description="Whether the run ended before all its blocks ran."
    )
    cells: tuple[Cell, ...] = Field(description="One per load.")
    break_even: dict[str, BreakEven] = Field(
        default_factory=dict, description="By candidate; needs two concurrencies."
    )


def json_schema() -> dict[str, Any]:
    """Give the JSON Schema of result.json."""
    return BenchResult.model_json_schema(by_alias=True)

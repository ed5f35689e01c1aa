"""What result.json holds: raw records, conditions, and what follows from them."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from pydantic import ConfigDict, Field, JsonValue, ValidationError

from trtspec.bench.conditions import Conditions
from trtspec.bench.paths import nearest_directory, writing
from trtspec.bench.ratio import CONFIDENCE, RESAMPLES, SEED
from trtspec.bench.records import Block, Record, Sample
from trtspec.bench.summary import Cell, summarize
from trtspec.errors import UsageError
from trtspec.files import write_atomic

SCHEMA: Final = "trtspec/bench/v1"


class Subject(Record):
    """The artifact that was measured."""

    name: str = Field(description="Name of the recipe.")
    fingerprint: str = Field(description="Fingerprint of the artifact.")
    recipe: dict[str, JsonValue] = Field(description="The recipe, resolved.")


class PromptSet(Record):
    """Which prompts were used."""

    file: str = Field(description="Name of the prompts file.")
    sha256: str = Field(description="SHA-256 of that file.")
    count: int = Field(ge=1, description="Prompts used: the first ones of the file.")


class Settings(Record):
    """How it was measured."""

    concurrency: tuple[int, ...] = Field(description="One cell each, in this order.")
    repeats: int = Field(ge=1, description="Counted blocks per arm and concurrency.")
    warm_up_blocks: int = Field(
        default=1, description="Uncounted short blocks per arm."
    )
    prompts_cached: bool = Field(
        default=False,
        description="Whether every prompt was in the KV cache before it was measured, "
        "in both arms.",
    )
    output_tokens: int = Field(ge=1, description="Most tokens per request.")
    temperature: float = Field(ge=0, description="0 is greedy.")
    top_k: int = Field(ge=0, description="0 keeps all tokens.")
    top_p: float = Field(gt=0, description="1 keeps all tokens.")
    seed: int = Field(ge=0, description="Of the first prompt; the next has one more.")
    confidence: float = Field(default=CONFIDENCE, description="Of the intervals.")
    resamples: int = Field(default=RESAMPLES, description="Of the bootstrap.")
    bootstrap_seed: int = Field(default=SEED, description="Of the bootstrap.")

    @property
    def greedy(self) -> bool:
        """Whether decoding took the most likely token."""
        return self.temperature == 0


class BenchResult(Record):
    """A whole benchmark; ``cells`` follows from ``blocks`` and ``samples``."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    schema_: Literal["trtspec/bench/v1"] = Field(
        default=SCHEMA, alias="schema", description="Schema version."
    )
    started: str = Field(description="UTC time of the start, ISO 8601.")
    finished: str = Field(description="UTC time of the end, ISO 8601.")
    artifact: Subject = Field(description="What was measured.")
    prompts: PromptSet = Field(description="With which prompts.")
    settings: Settings = Field(description="How.")
    conditions: Conditions = Field(description="Under which conditions.")
    cells: tuple[Cell, ...] = Field(description="One per concurrency.")
    blocks: tuple[Block, ...] = Field(description="In the order they ran.")
    samples: tuple[Sample, ...] = Field(description="Every counted request.")

    def recomputed(self) -> tuple[Cell, ...]:
        """Compute the cells again from blocks and samples alone."""
        return summarize(
            self.settings.concurrency,
            self.blocks,
            self.samples,
            {c.concurrency: c.failure for c in self.cells if c.failure},
            greedy=self.settings.greedy,
        )


def save_result(result: BenchResult, path: Path) -> None:
    """Write result.json, whole or not at all; its directory is made.

    :raises RunError: if it cannot be written.
    """
    with writing(path):
        nearest_directory(path)  # names what is in the way better than mkdir does
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, result.model_dump_json(by_alias=True, indent=1) + "\n")


def load_result(path: Path) -> BenchResult:
    """Read a result.json.

    :raises UsageError: if the file is missing or does not follow the schema.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot be read: {error}", where=str(path)) from error
    try:
        return BenchResult.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "document"
        raise UsageError(
            f"{place}: {first['msg']}",
            where=str(path),
            allowed=f"a result of trtspec bench, schema {SCHEMA}",
        ) from None

"""A trace as a file: what it holds for, then one line per prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeVar

from pydantic import ConfigDict, Field, JsonValue, ValidationError

from trtspec.bench.records import Record
from trtspec.errors import Problem, UsageError
from trtspec.files import write_atomic
from trtspec.tune.trace import PromptTrace

SCHEMA: Final = "trtspec/trace/v1"
RecordT = TypeVar("RecordT", bound=Record)


class TraceHead(Record):
    """What a trace was made with; it holds wherever all of that is the same.

    The engine, the load and the GPU are not among it: what a drafter would have had
    accepted depends on the models and the prompts alone.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    schema_: Literal["trtspec/trace/v1"] = Field(
        default=SCHEMA, alias="schema", description="Schema version."
    )
    name: str = Field(description="Name of the recipe.")
    speculation: dict[str, JsonValue] = Field(
        description="Method and parameters, with the longest draft."
    )
    cut_anywhere: bool = Field(
        description="Whether it tells of shorter drafts, too; else of this one only."
    )
    target_sha256: str = Field(description="SHA-256 over the target's files.")
    draft_sha256: str | None = Field(
        default=None, description="SHA-256 over the drafter's files; null: no files."
    )
    prompts_sha256: str = Field(
        description="SHA-256 over all prompts as token ids, in their order."
    )
    output_tokens: int = Field(ge=1, description="Most tokens per answer.")
    sampling: dict[str, JsonValue] = Field(
        description="temperature, top_k, top_p, and the first prompt's seed."
    )
    dtype: str = Field(description="Type of the target's weights.")
    engine: dict[str, JsonValue] = Field(
        default_factory=dict, description="What made it; of no consequence in float32."
    )


@dataclass(frozen=True, slots=True)
class TraceSet:
    """A whole trace."""

    head: TraceHead
    prompts: tuple[PromptTrace, ...]


def write_traces(path: Path, traces: TraceSet) -> None:
    """Write a trace, whole or not at all."""
    lines = [
        traces.head.model_dump_json(by_alias=True),
        *(one.model_dump_json(exclude_none=True) for one in traces.prompts),
    ]
    write_atomic(path, "\n".join(lines) + "\n")


def read_traces(path: Path) -> TraceSet:
    """Read a trace.

    :raises UsageError: naming the line that is not one.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"the trace cannot be read: {error}", where=str(path)
        ) from None
    if len(lines) < 2:
        raise UsageError(
            "the trace is empty",
            where=str(path),
            allowed="a line that says what it holds for, and one per prompt",
            action="make it again: trtspec tune",
        )
    head = _parsed(TraceHead, path, 1, lines[0])
    prompts = [
        _parsed(PromptTrace, path, n, line) for n, line in enumerate(lines[1:], 2)
    ]
    return TraceSet(head, tuple(prompts))


def _parsed(kind: type[RecordT], path: Path, number: int, line: str) -> RecordT:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise UsageError(
            f"{place or 'the line'}: {first['msg']}",
            where=f"{path}:{number}",
            action="make the trace again: trtspec tune",
        ) from None


def require_same(head: TraceHead, wanted: TraceHead, where: str) -> None:
    """Refuse a trace that was made with something else.

    :raises UsageError: with everything that differs.
    """
    kept = ("speculation", "target_sha256", "draft_sha256", "prompts_sha256")
    problems = [
        Problem(
            f"{key} of the trace is {_short(getattr(head, key))}, "
            f"here it is {_short(getattr(wanted, key))}",
            where,
            "a trace of the same models, method and prompts",
            "leave it out, and a new one is made",
        )
        for key in (*kept, "output_tokens", "sampling", "dtype")
        if getattr(head, key) != getattr(wanted, key)
    ]
    if problems:
        raise UsageError.from_problems(problems)


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 90 else f"{text[:12]}..."


def categories(traces: Sequence[PromptTrace]) -> dict[str, list[PromptTrace]]:
    """Group traces by their prompts' category."""
    found: dict[str, list[PromptTrace]] = {}
    for trace in traces:
        found.setdefault(trace.category, []).append(trace)
    return found

"""How a pass over the prompts becomes raw records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from trtspec.bench.load import LoadResult
from trtspec.bench.records import Arm, Block, Sample, StepTimes
from trtspec.errors import RunError
from trtspec.files import sha256_json
from trtspec.run import Completion, StepRecord


@dataclass(frozen=True, slots=True)
class BenchPrompt:
    """One prompt of the workload, already in token ids."""

    id: str
    category: str
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the measurement a block belongs."""

    arm: Arm
    block: int
    concurrency: int


def block_record(
    place: Place, result: LoadResult, *, order: int, started: datetime
) -> Block:
    """Sum up a block.

    :param order: position in the order of execution.
    """
    return Block(
        arm=place.arm,
        block=place.block,
        concurrency=place.concurrency,
        order=order,
        started=started.isoformat(timespec="milliseconds"),
        wall_seconds=result.wall_seconds,
        requests=len(result.completions),
        output_tokens=sum(len(c.tokens) for c in result.completions),
        prefill=step_times(r for r in result.records if r.kind == "prefill"),
        decode=step_times(r for r in result.records if r.kind == "decode"),
    )


def step_times(records: Iterable[StepRecord]) -> StepTimes:
    """Add up the engine steps of one kind."""
    steps = list(records)
    return StepTimes(
        steps=len(steps),
        seconds=sum(s.seconds for s in steps),
        draft_seconds=sum(s.draft_seconds for s in steps),
        draft_forward_seconds=sum(s.draft_forward_seconds for s in steps),
        forward_seconds=sum(s.forward_seconds for s in steps),
        drafted=sum(s.drafted for s in steps),
        accepted=sum(s.accepted for s in steps),
        emitted=sum(s.emitted for s in steps),
    )


def sample_records(
    place: Place, prompts: Sequence[BenchPrompt], result: LoadResult
) -> Iterator[Sample]:
    """Give one sample per prompt; token ids are kept in the first counted block."""
    for prompt, completion in zip(prompts, result.completions, strict=True):
        yield _sample(place, prompt, completion, result.started_at)


def _sample(
    place: Place, prompt: BenchPrompt, completion: Completion, block_start: float
) -> Sample:
    if completion.ttft is None or completion.e2e is None:
        raise RunError("emitted no token", where=f"request {completion.request_id}")
    if completion.finish_reason == "cancelled":
        raise RunError("was cancelled", where=f"request {completion.request_id}")
    return Sample(
        arm=place.arm,
        block=place.block,
        concurrency=place.concurrency,
        prompt_id=prompt.id,
        category=prompt.category,
        prompt_tokens=completion.prompt_tokens,
        output_tokens=len(completion.tokens),
        submitted=completion.submitted_at - block_start,
        ttft=completion.ttft,
        tpot=completion.tpot,
        e2e=completion.e2e,
        steps=completion.steps,
        drafted=completion.drafted,
        accepted=completion.accepted,
        finish_reason=completion.finish_reason,
        tokens_sha256=sha256_json(completion.tokens),
        tokens=tuple(completion.tokens) if place.block == 1 else None,
        lossy=completion.lossy,
    )

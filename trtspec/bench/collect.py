"""How a pass over the prompts becomes raw records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from trtspec.bench.driver import BenchPrompt
from trtspec.bench.outcome import Failed, Outcome, Pass
from trtspec.bench.records import Block, Failure, Resources, Sample, StepTimes
from trtspec.files import sha256_json
from trtspec.run import StepRecord


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the measurement a block belongs.

    :param load: key of the load.
    :param block: 0 is the warm-up.
    :param order: position in the order of execution.
    """

    arm: str
    block: int
    load: str
    order: int = 0


def block_record(
    place: Place, result: Pass, started: datetime, resources: Resources
) -> Block:
    """Sum up a block in which every request was answered."""
    answered = result.answered
    prompt_tokens = [o.prompt_tokens for o in answered]
    return Block(
        arm=place.arm,
        block=place.block,
        load=place.load,
        order=place.order,
        started=started.isoformat(timespec="milliseconds"),
        wall_seconds=result.wall_seconds,
        requests=len(answered),
        prompt_tokens=None
        if None in prompt_tokens
        else sum(t for t in prompt_tokens if t is not None),
        output_tokens=sum(o.output_tokens for o in answered),
        prefill=_times(result.records, "prefill"),
        decode=_times(result.records, "decode"),
        resources=resources,
    )


def _times(records: Iterable[StepRecord] | None, kind: str) -> StepTimes | None:
    if records is None:
        return None
    return step_times(r for r in records if r.kind == kind)


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


def failures(
    place: Place, prompts: Sequence[BenchPrompt], result: Pass
) -> list[Failure]:
    """Say which requests brought no answer.

    :param prompts: of the outcomes, in the same order.
    """
    return [
        Failure(
            arm=place.arm,
            block=place.block,
            load=place.load,
            prompt_id=prompt.id,
            what=outcome.what,
        )
        for prompt, outcome in zip(prompts, result.outcomes, strict=True)
        if isinstance(outcome, Failed)
    ]


def samples(place: Place, prompts: Sequence[BenchPrompt], result: Pass) -> list[Sample]:
    """Give one sample per answered request."""
    return [
        _sample(place, prompt, outcome, result.started_at)
        for prompt, outcome in zip(prompts, result.outcomes, strict=True)
        if isinstance(outcome, Outcome)
    ]


def _sample(
    place: Place, prompt: BenchPrompt, outcome: Outcome, started_at: float
) -> Sample:
    """Make a sample; the output itself is kept in the first counted block only."""
    keep = place.block == 1
    ids = outcome.tokens
    return Sample(
        arm=place.arm,
        block=place.block,
        load=place.load,
        prompt_id=prompt.id,
        category=prompt.category,
        prompt_tokens=outcome.prompt_tokens,
        output_tokens=outcome.output_tokens,
        late=outcome.sent_at - outcome.due_at,
        submitted=outcome.due_at - started_at,
        ttft=outcome.ttft,
        tpot=outcome.tpot,
        e2e=outcome.e2e,
        chunks=tuple((time - outcome.due_at, n) for time, n in outcome.chunks),
        steps=outcome.steps,
        drafted=outcome.drafted,
        accepted=outcome.accepted,
        draft_steps=outcome.draft_steps,
        finish_reason=outcome.finish_reason,
        output_sha256=sha256_json(outcome.text if ids is None else ids),
        tokens=ids if keep else None,
        text=outcome.text if keep and ids is None else None,
        lossy=outcome.lossy,
    )

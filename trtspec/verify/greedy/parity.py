"""Asks both arms the same greedy questions, and compares the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from trtspec.verify.arm import Answer, Arm, Question
from trtspec.verify.greedy.gaps import Judge, Scorer
from trtspec.verify.greedy.judging import judge_parity
from trtspec.verify.greedy.records import Comparison, GreedyParity, Kind
from trtspec.verify.greedy.sequences import By, common_way, parting, parts_of
from trtspec.verify.greedy.shares import share
from trtspec.verify.greedy.tolerance import (
    Dtype,
    Spread,
    Tolerance,
    spread_of,
    tolerance_for,
)

Answers = Mapping[str, Answer]
Tell = Callable[[str], None]

SPREAD_PROMPTS = 4
SPREAD_TOKENS = 32
"""Outputs, and tokens of each, on which the off arm's own spread is measured."""


class Parity(NamedTuple):
    """What parity found, and the answers it rests on, by question."""

    record: GreedyParity
    off: Answers
    on: Answers


@dataclass(frozen=True, slots=True)
class ParityPlan:
    """What is asked.

    :param questions: greedy ones.
    :param concurrencies: of the on arm; the off arm's first run has the first of them.
    :param floor: concurrencies at which off is compared with itself. The rows of a
        forward are then about as many as verification has: draft tokens + 1.
    :param width: tokens per request that a verification step reads.
    :param dtype: number format of the logits.
    :param dtype_from: who says so.
    """

    questions: Sequence[Question]
    concurrencies: Sequence[int] = (1, 4)
    floor: Sequence[int] = (4,)
    width: int = 5
    dtype: Dtype = "bfloat16"
    dtype_from: str = "assumed"
    tell: Tell = field(default=lambda text: None)


def greedy_parity(
    off: Arm, on: Arm, plan: ParityPlan, scorer: Scorer | None = None
) -> Parity:
    """Compare on with off, and off with itself.

    :param scorer: gives the off arm's logits; None where they cannot be had.
    :raises RunError: if an arm fails, or off drafts.
    """
    base = plan.concurrencies[0]
    first = _answers(off, plan, base)
    drifts = [(c, _answers(off, plan, c)) for c in plan.floor]
    runs = [(c, _answers(on, plan, c)) for c in plan.concurrencies]
    spread = _spread(scorer, plan, first) if scorer else None
    tolerance = tolerance_for(plan.dtype, plan.dtype_from, spread)
    seen = {q.id: [answers[q.id] for _, answers in drifts] for q in plan.questions}
    # off against off is classed without itself as a witness
    alone, judge = Judge(tolerance, scorer), Judge(tolerance, scorer, seen)
    floor = [
        _compare(plan, alone, first, answers, (f"{off.name} again", c))
        for c, answers in drifts
    ]
    compared = [
        _compare(plan, judge, first, answers, (on.name, c)) for c, answers in runs
    ]
    record = _judged(plan, compared, floor, tolerance)
    return Parity(record, first, runs[0][1])


def _answers(arm: Arm, plan: ParityPlan, concurrency: int) -> Answers:
    plan.tell(f"greedy: {arm.name}, {concurrency} at once")
    return arm.answer(plan.questions, concurrency)


def _spread(scorer: Scorer, plan: ParityPlan, answers: Answers) -> Spread | None:
    plan.tell("greedy: how far off's own gaps move")
    differences: list[float] = []
    for question in plan.questions[:SPREAD_PROMPTS]:
        tokens = answers[question.id].tokens
        if tokens is not None and not isinstance(question.prompt, str):
            output = tokens[:SPREAD_TOKENS]
            differences += scorer.spread(question.prompt, output, plan.width)
    return spread_of(differences, plan.width)


def _compare(
    plan: ParityPlan,
    judge: Judge,
    off: Answers,
    other: Answers,
    name: tuple[str, int],
) -> Comparison:
    by = common_way([*off.values(), *other.values()])
    found, tokens = [], 0
    for question in plan.questions:
        ours, theirs = off[question.id], other[question.id]
        at = parting(ours, theirs, by)
        tokens += len(parts_of(ours, by)) if at is None else at.position + 1
        if at is not None:
            found.append(judge.judge(question, ours, theirs, by, at))
    count = len(plan.questions)

    def share_of(kind: Kind) -> object:
        return share(sum(d.kind == kind for d in found), count)

    return Comparison.model_validate(
        {
            "arm": name[0],
            "concurrency": name[1],
            "off_concurrency": plan.concurrencies[0],
            "prompts": count,
            "by": by,
            "tokens": _if_told(by, tokens),
            "identical": share(count - len(found), count),
            "near_ties": share_of("near tie"),
            "divergences": share_of("divergence"),
            "unknown": share_of("cannot tell"),
            "drafted": _sum([a.drafted for a in other.values()]),
            "accepted": _sum([a.accepted for a in other.values()]),
            "differences": tuple(found),
        }
    )


def _judged(
    plan: ParityPlan,
    comparisons: Sequence[Comparison],
    floor: Sequence[Comparison],
    tolerance: Tolerance,
) -> GreedyParity:
    ids = [question.id for question in plan.questions]
    verdict, reasons = judge_parity(comparisons, floor, ids, tolerance)
    return GreedyParity(
        verdict=verdict,
        reasons=reasons,
        tolerance=tolerance,
        max_tokens=max(q.max_tokens for q in plan.questions),
        comparisons=tuple(comparisons),
        floor=tuple(floor),
    )


def _if_told(by: By, tokens: int) -> int | None:
    return None if by == "text" else tokens


def _sum(counts: Sequence[int | None]) -> int | None:
    told = [count for count in counts if count is not None]
    return sum(told) if len(told) == len(counts) else None

"""From a choice to the records that the document shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isfinite, log

from trtspec.tune.choose import best_of
from trtspec.tune.decide import Choice, Question, by_category
from trtspec.tune.result import (
    BreakEvenBatch,
    CandidateResult,
    Interval,
    LoadChoice,
    Shown,
)
from trtspec.tune.steady import Gain, Point, gain


def candidate_result(choice: Choice, question: Question) -> CandidateResult:
    """Keep everything that was found out about a candidate."""
    candidate = choice.evidence.candidate
    return CandidateResult(
        name=choice.name,
        recipe=candidate.artifact.name,
        fingerprint=candidate.artifact.fingerprint,
        speculation=candidate.method.model_dump(mode="json"),
        cut_anywhere=candidate.cut_anywhere,
        draft_length=choice.draft_length,
        tree=choice.tree,
        surface={b: _row(points) for b, points in choice.surface.items()},
        loads=tuple(load_choice(choice, load) for load in question.loads),
        by_category=by_category(choice.evidence, question),
        break_even=break_even(choice.surface),
    )


def _row(points: Sequence[Point]) -> tuple[Shown, ...]:
    plain = _plain(points)
    return tuple(
        Shown(
            length=one.length,
            tokens_per_step=one.tokens,
            step_seconds=one.seconds,
            throughput=one.throughput,
            tpot=one.tpot,
            gain=one.throughput / plain.throughput,
            interval=_interval(gain(one, plain)),
        )
        for one in points
    )


def load_choice(choice: Choice, load: int) -> LoadChoice:
    """Keep what is chosen for a load, and what it is predicted to bring."""
    points = choice.surface[load]
    length = choice.lengths[load]
    drafting = [p for p in points if p.length == length or not length]
    point = best_of([p for p in drafting if p.length])
    sure = gain(point, _plain(points))
    plain, chosen = choice.with_length(load, 0), choice.predicted(load)
    predicted = chosen if length else choice.with_length(load, point.length)
    ratio = predicted.throughput / plain.throughput
    interval = _interval(sure)
    if interval:  # around the gain of the workload, prompts read included
        low, high = (ratio * end / sure.ratio for end in interval)
        interval = (low, high)
    return LoadChoice(
        concurrency=load,
        length=length,
        of_length=point.length,
        plain=plain.throughput,
        predicted=chosen.throughput,
        gain=ratio,
        interval=interval,
        priced=choice.evidence.costs.verify.source != "measured",
        tpot=(point if length else _plain(points)).tpot,
        acceptance_length=predicted.acceptance_length,
    )


def _plain(points: Sequence[Point]) -> Point:
    return next(point for point in points if point.length == 0)


def _interval(found: Gain) -> Interval | None:
    return (found.low, found.high) if isfinite(found.high) else None


def break_even(surface: Mapping[int, Sequence[Point]]) -> BreakEvenBatch:
    """Say up to which batch size the best length that drafts still gains.

    Between two batch sizes the logarithms of gain and batch follow a straight line.
    """
    gains: dict[int, Gain] = {}
    for batch, points in surface.items():
        drafting = [point for point in points if point.length]
        gains[batch] = gain(best_of(drafting), _plain(points))
    return BreakEvenBatch(
        batch=_falls_to_one({b: g.ratio for b, g in gains.items()}),
        low=_falls_to_one({b: g.low for b, g in gains.items()}),
        high=_falls_to_one({b: g.high for b, g in gains.items()}),
    )


def _falls_to_one(gains: Mapping[int, float]) -> float | None:
    """Give the batch size at which gains first fall to 1; None if they do not."""
    batches = sorted(gains)
    if not all(gains[b] > 0 and isfinite(gains[b]) for b in batches):
        return None
    if gains[batches[0]] <= 1:
        return float(batches[0])
    for low, high in pairwise(batches):
        if gains[high] <= 1:
            above, below = log(gains[low]), log(gains[high])
            share = above / (above - below)
            return float(low * (high / low) ** share)
    return None

"""What every draft length would bring at every batch size, with the chosen one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log

from trtspec.methods.draft_length import draft_length_at
from trtspec.report import numbers
from trtspec.report.document import Figure, Section, Table
from trtspec.report.plots.heat import Heat, HeatMap
from trtspec.report.plots.lines import Band, LinePlot, Point, Series
from trtspec.report.plots.svg import Key
from trtspec.report.tuning.choice import gain_text
from trtspec.report.tuning.load import LoadedTuning
from trtspec.tune.result import CandidateResult, Shown

RUNNING = "running requests"
GAIN = "throughput / plain decoding"
_LEAD = (
    "Predicted throughput of every draft length relative to plain decoding, while so "
    "many requests decode at once: tokens per step, from replaying the traces, over "
    "the time of a step. Outlined: what is chosen."
)
_TINTS = (
    ("faster than plain decoding", "p-up"),
    ("slower", "p-down"),
    ("chosen", "p-chosen"),
)


def surface_section(found: LoadedTuning) -> Section:
    """Draw the surface, and the best length's gain over the batch."""
    best = found.result.best
    caption = f"{best.name}: gain by draft length; of the best length, with intervals"
    return Section(
        "Draft length and load",
        (
            Figure(
                (_map(best), _gains(best)), caption, parts=_TINTS, table=_table(best)
            ),
        ),
        _LEAD,
    )


def chosen_length(best: CandidateResult, batch: int) -> int:
    """Give the length that is chosen while so many requests run."""
    return draft_length_at(best.draft_length or 0, batch)


def length_name(length: int) -> str:
    """Name a draft length."""
    return f"draft length {length}" if length else "plain decoding"


def _map(best: CandidateResult) -> HeatMap:
    batches = sorted(best.surface)
    lengths = [point.length for point in best.surface[batches[0]]]
    return HeatMap(
        title="Gain by draft length and running requests",
        description="; ".join(
            f"{batch} running: {_said(best.surface[batch])}, chosen "
            f"{length_name(chosen_length(best, batch))}"
            for batch in batches
        ),
        titles=(RUNNING, f"{GAIN}, by draft length"),
        columns=tuple(map(str, batches)),
        rows=tuple(
            (
                str(length),
                tuple(_heat(best, batch, place) for batch in batches),
            )
            for place, length in enumerate(lengths)
        ),
        limit=_limit(best, batches),
    )


def _said(points: Sequence[Shown]) -> str:
    return ", ".join(f"{p.length}: {p.gain:.2f}" for p in points if p.length)


def _heat(best: CandidateResult, batch: int, place: int) -> Heat:
    point = best.surface[batch][place]
    tip = (
        f"{length_name(point.length)}, {batch} running: "
        f"{gain_text(point.gain, point.interval)}, {point.throughput:.1f} tokens/s"
    )
    chosen = point.length == chosen_length(best, batch)
    return Heat(point.gain, f"{point.gain:.2f}", tip, chosen)


def _limit(best: CandidateResult, batches: Sequence[int]) -> tuple[float, str] | None:
    """Place the break-even between the columns of two batches."""
    found = best.break_even.batch
    if found is None or found <= batches[0]:
        return None
    for column, (low, high) in enumerate(pairwise(batches)):
        if low < found <= high:
            share = log(found / low) / log(high / low)
            return column + 0.5 + share, f"break-even {found:.1f}"
    return None


def _gains(best: CandidateResult) -> LinePlot:
    key = Key("best length", 1)
    points = tuple(
        Point(batch, top.gain, top.interval, _tip(batch, top))
        for batch, points in sorted(best.surface.items())
        if (top := max((p for p in points if p.length), key=lambda p: p.throughput))
    )
    return LinePlot(
        title="Gain of the best draft length by running requests",
        description=", ".join(point.tip for point in points),
        titles=(RUNNING, f"{GAIN}, best draft length"),
        ticks=tuple((b, str(b)) for b in sorted(best.surface)),
        series=(Series(key, points),),
        log_x=True,
        log_y=True,
        reference=(1.0, "plain decoding"),
        bands=_bands(best, key),
        size=(430, 280),
    )


def _tip(batch: int, top: Shown) -> str:
    gain = gain_text(top.gain, top.interval)
    return f"{batch} running: {gain} with draft length {top.length}"


def _bands(best: CandidateResult, key: Key) -> tuple[Band, ...]:
    found, last = best.break_even, max(best.surface)
    if found.batch is None or found.low is None:
        return ()
    high = last if found.high is None else found.high
    tip = f"break-even at {found.batch:.1f} running requests"
    return (Band(key, found.low, high, tip),) if high > found.low else ()


def _table(best: CandidateResult) -> Table:
    columns = (
        RUNNING,
        "draft length",
        "tokens/step",
        "step ms",
        "tokens/s",
        "TPOT ms",
        "gain",
        "",
    )
    rows = [
        (
            str(batch),
            str(point.length) if point.length else "none",
            numbers.decimal(point.tokens_per_step),
            numbers.decimal(point.step_seconds * 1e3),
            numbers.decimal(point.throughput, 1),
            numbers.decimal(point.tpot * 1e3),
            gain_text(point.gain, point.interval),
            "chosen" if point.length == chosen_length(best, batch) else "",
        )
        for batch, points in sorted(best.surface.items())
        for point in points
    ]
    return Table.of(columns, rows, words=1, last=1)

"""What the choice stands on: tokens per step, step times, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.report import numbers
from trtspec.report.document import Block, Bullets, Figure, Section, Table, Text
from trtspec.report.plots.lines import LinePlot, Point, Series
from trtspec.report.plots.svg import Key
from trtspec.report.tuning.choice import upper
from trtspec.report.tuning.load import LoadedTuning
from trtspec.tune.bill import Item
from trtspec.tune.result import CandidateResult, Shown, TuneResult
from trtspec.tune.sentences import sweep_words

_LEAD = (
    "A draft length gains where its tokens per step rise faster than the time of a "
    "step. Both are of all prompts together."
)
_SOURCES = {
    "measured": "Step times were measured on this machine: medians over steps, the "
    "whole table, no fit.",
    "priced": "Step times are those of a model of the named GPU: nothing was measured "
    "there.",
    "roofline": "Step times follow from the GPU's data sheet: a bound, not a "
    "measurement.",
}
_HOLDS = (
    "Tokens per step come from replaying the drafts of a greedy decode; in float32 the "
    "replay takes the very steps that the engine takes.",
    "The surface takes the batch for full. The gain by load replays the workload in a "
    "closed loop, its beginning and end included.",
    "Intervals (95 %) cover the choice of prompts and the noise of the step times, not "
    "other prompts, longer contexts or another machine.",
)
_BILL = "What the tuning took, and what it stands for: every draft length once."


def grounds_section(found: LoadedTuning) -> Section | None:
    """Draw both factors of the gain over the draft length."""
    best = found.result.best
    lengths = len(next(iter(best.surface.values())))
    blocks: list[Block] = []
    if lengths > 2:  # of one setting there is no curve
        keys = [Key(f"{b} running", n) for n, b in enumerate(sorted(best.surface), 1)]
        plots = (_tokens(best), _seconds(best, keys))
        caption = "Tokens per step, and what a step takes, by draft length"
        blocks.append(Figure(plots, caption, legend=tuple(keys)))
    blocks.append(Bullets((_SOURCES[found.result.costs], *_HOLDS)))
    return Section("What it stands on", tuple(blocks), _LEAD)


def _tokens(best: CandidateResult) -> LinePlot:
    points = tuple(
        Point(p.length, p.tokens_per_step, None, _tokens_tip(p))
        for p in next(iter(best.surface.values()))
    )
    return LinePlot(
        title="Tokens per step by draft length",
        description=", ".join(point.tip for point in points),
        titles=("draft length", "tokens per step of a request"),
        ticks=_ticks(best),
        series=(Series(Key("tokens per step", 0), points),),
    )


def _tokens_tip(point: Shown) -> str:
    return f"draft length {point.length}: {point.tokens_per_step:.2f} tokens per step"


def _seconds(best: CandidateResult, keys: list[Key]) -> LinePlot:
    series = tuple(
        Series(
            key,
            tuple(
                Point(p.length, p.step_seconds * 1e3, None, _seconds_tip(p))
                for p in best.surface[batch]
            ),
        )
        for key, batch in zip(keys, sorted(best.surface), strict=True)
    )
    return LinePlot(
        title="Time of a step by draft length and running requests",
        description="; ".join(
            f"{s.key.name}: {', '.join(p.tip for p in s.points)}" for s in series
        ),
        titles=("draft length", "milliseconds per step"),
        ticks=_ticks(best),
        series=series,
        from_zero=True,
    )


def _seconds_tip(point: Shown) -> str:
    return f"draft length {point.length}: {point.step_seconds * 1e3:.2f} ms"


def _ticks(best: CandidateResult) -> tuple[tuple[float, str], ...]:
    lengths = [p.length for p in next(iter(best.surface.values()))]
    return tuple((k, str(k)) for k in lengths[:: max(1, len(lengths) // 8)])


def bill_section(found: LoadedTuning) -> Section:
    """Give the bill, and the sweep beside it."""
    return Section(
        "The bill",
        (_bill(found.result), Text(f"{upper(sweep_words(found.result))}.")),
        _BILL,
    )


def _bill(result: TuneResult) -> Table:
    columns = ("part", "engine starts", "steps", "model seconds", "seconds")
    return Table(columns, tuple(_rows(result)))


def _rows(result: TuneResult) -> Iterator[tuple[str, ...]]:
    bill = result.bill
    for item in bill.items:
        yield _row(item.part, item)
    kind = "measured, one round of the above" if bill.swept else "predicted, not run"
    yield _row(f"a whole sweep, once ({kind})", bill.sweep)


def _row(name: str, item: Item) -> tuple[str, ...]:
    return (
        name,
        numbers.count(item.engine_starts),
        numbers.count(item.steps),
        numbers.decimal(item.model_seconds, 1),
        numbers.decimal(item.seconds, 1),
    )

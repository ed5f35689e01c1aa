"""How the methods compare, and what each category of prompts alone would get."""

from __future__ import annotations

from trtspec.recipe.dump import flow_text
from trtspec.report.document import Block, Figure, Section, Table, Text
from trtspec.report.plots.lines import LinePlot, Point, Series
from trtspec.report.plots.svg import Key
from trtspec.report.tuning.choice import gain_text
from trtspec.report.tuning.load import LoadedTuning
from trtspec.report.tuning.surface import GAIN
from trtspec.tune.result import CandidateResult, LoadChoice

_METHODS = (
    "Predicted throughput of each method with its own choice, relative to plain "
    "decoding. The first is chosen: the one that gains most over the loads. Where a "
    "method drafts nothing, its best draft length is shown."
)
_CATEGORIES = (
    "The draft lengths that the prompts of one category alone would get, by running "
    "requests. A server that sees one category only may want its own recipe."
)
_PLAIN = Key("plain decoding", 0)
_ALIKE = "Every category alone would get the same draft lengths."


def methods_section(found: LoadedTuning) -> Section | None:
    """Draw all candidates, if there are several."""
    candidates = found.result.candidates
    if len(candidates) < 2:
        return None
    keys = [Key(one.name, number) for number, one in enumerate(candidates, 1)]
    series = tuple(
        Series(key, tuple(map(_point, one.loads)))
        for key, one in zip(keys, candidates, strict=True)
    )
    plot = LinePlot(
        title="Predicted gain of each method by concurrency",
        description="; ".join(
            f"{line.key.name}: {', '.join(point.tip for point in line.points)}"
            for line in series
        ),
        titles=("requests kept in flight", GAIN),
        ticks=tuple((x.concurrency, str(x.concurrency)) for x in candidates[0].loads),
        series=series,
        log_x=True,
        log_y=True,
        reference=(1.0, "plain decoding"),
    )
    caption = "Methods by load, predicted: gain with 95 % intervals, and tokens/s"
    plots = (plot, _absolute(candidates, keys))
    figure = Figure(plots, caption, legend=(_PLAIN, *keys))
    return Section("Methods", (figure, _table(candidates)), _METHODS)


def _absolute(candidates: tuple[CandidateResult, ...], keys: list[Key]) -> LinePlot:
    """Draw tokens per second with each method's own choice, beside plain decoding."""
    loads = candidates[0].loads
    plain = Series(_PLAIN, tuple(_speed(load, load.plain) for load in loads))
    series = tuple(
        Series(key, tuple(_speed(load, load.predicted) for load in one.loads))
        for key, one in zip(keys, candidates, strict=True)
    )
    return LinePlot(
        title="Predicted throughput of each method by concurrency",
        description="; ".join(
            f"{line.key.name}: {', '.join(point.tip for point in line.points)}"
            for line in (plain, *series)
        ),
        titles=("requests kept in flight", "tokens per second"),
        ticks=tuple((x.concurrency, str(x.concurrency)) for x in loads),
        series=(plain, *series),
        log_x=True,
        from_zero=True,
    )


def _speed(load: LoadChoice, speed: float) -> Point:
    tip = f"concurrency {load.concurrency}: {speed:.1f} tokens/s"
    return Point(load.concurrency, speed, None, tip)


def _point(load: LoadChoice) -> Point:
    tip = f"concurrency {load.concurrency}: {gain_text(load.gain, load.interval)}"
    return Point(load.concurrency, load.gain, load.interval, tip)


def _table(candidates: tuple[CandidateResult, ...]) -> Table:
    loads = [f"concurrency {load.concurrency}" for load in candidates[0].loads]
    rows = [
        (
            one.name,
            "none" if one.draft_length is None else flow_text(one.draft_length),
            *map(_cell, one.loads),
        )
        for one in candidates
    ]
    return Table(("method", "draft_length", *loads), tuple(rows), words=2)


def _cell(load: LoadChoice) -> str:
    told = gain_text(load.gain, load.interval)
    return told if load.length else f"none: {told} with {load.of_length}"


def categories_section(found: LoadedTuning) -> Section | None:
    """Say what each category alone would get, if there are several."""
    lengths = found.result.best.by_category
    if not lengths:
        return None
    batches = sorted(next(iter(lengths.values())))
    blocks: list[Block] = []
    if len({tuple(sorted(one.items())) for one in lengths.values()}) < 2:
        blocks.append(Text(_ALIKE))
    rows = tuple(
        (name, *(str(one[b]) if one[b] else "none" for b in batches))
        for name, one in sorted(lengths.items())
    )
    blocks.append(Table(("category", *(f"{b} running" for b in batches)), rows))
    return Section("By category", tuple(blocks), _CATEGORIES)

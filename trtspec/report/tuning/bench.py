"""What the bench said of the predictions, and what the choice loses to the best."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.bench.rundir import BenchRun
from trtspec.report import numbers
from trtspec.report.document import Block, Bullets, Figure, Note, Section, Table, Text
from trtspec.report.plots.lines import LinePlot, Point, Series
from trtspec.report.plots.svg import Key
from trtspec.report.secrets import without_secrets
from trtspec.report.tuning.choice import gain_text, upper
from trtspec.report.tuning.load import LoadedTuning
from trtspec.report.tuning.surface import GAIN
from trtspec.tune.confirm import fixed_name
from trtspec.tune.result import Confirmation, Measurement, Shown
from trtspec.tune.sentences import disagreement_words, listed, regret_lines

_LEAD = (
    "The bench ran these draft lengths and plain decoding in turns, over the same "
    "prompts. Where it says something else than the prediction, the measurement counts."
)
_PREDICTED, _MEASURED = Key("predicted, batch full", 0, dashed=True), Key("measured", 1)
_SMALL = (340.0, 240.0)


def bench_section(found: LoadedTuning) -> Section | None:
    """Lay prediction and measurement beside each other."""
    bench = found.result.confirmation
    if bench is None:
        return None
    blocks: list[Block] = []
    if plots := tuple(_plots(found)):
        caption = "Gain by draft length: predicted, and measured with 95 % intervals"
        blocks.append(Figure(plots, caption, legend=(_PREDICTED, _MEASURED)))
    if found.run and not found.measured:
        blocks += _nothing(found.run)
    else:
        blocks += [*_disagreements(bench), *_regret(bench)]
    if found.measured:
        blocks.append(_table(found, bench))
    elif not found.run:
        blocks.append(Text(f"The run {bench.run} is not beside the document any more."))
    return Section("Prediction and bench", tuple(blocks), _LEAD)


def _nothing(run: BenchRun) -> Iterator[Block]:
    """Say why the bench gave no ratio."""
    reasons = {
        comparison.verdict.reason
        for cell in run.result.cells
        for comparison in cell.comparisons.values()
    } | {failure.what for cell in run.result.cells for failure in cell.failures}
    why = "; ".join(sorted(without_secrets(x) for x in reasons if x))
    told = "The bench gave no ratio, so what is shown is predicted only"
    yield Note("warning", f"{told}: {why}." if why else f"{told}.")


def _disagreements(bench: Confirmation) -> Iterator[Block]:
    if bench.disagreements:
        told = map(disagreement_words, bench.disagreements)
        yield Bullets(tuple(f"{upper(line)}." for line in told))
    else:
        yield Text("Every prediction lies within the measured interval.")


def _regret(bench: Confirmation) -> Iterator[Block]:
    if bench.regret:
        told = listed(bench.regret)
        yield Text(
            f"Regret, from an exhaustive sweep of every draft length at concurrency "
            f"{told}: 1 - the throughput of the chosen length / that of the best one. "
            "The noise of the bench is in it: the best of many is partly luck."
        )
        yield Bullets(tuple(f"{upper(x)}." for x in regret_lines(dict(bench.regret))))


def _plots(found: LoadedTuning) -> Iterator[LinePlot]:
    """Draw a plot per load under which single draft lengths were measured."""
    surface = found.result.best.surface
    for load, arms in sorted(found.measured.items()):
        if measured := tuple(_measured(arms, surface.get(load, ()))):
            yield _plot(load, surface[load], measured)


def _measured(
    arms: dict[str, Measurement], points: tuple[Shown, ...]
) -> Iterator[Point]:
    for point in points:
        if one := arms.get(fixed_name(point.length)):
            tip = f"draft length {point.length}: {gain_text(one.gain, one.interval)}"
            yield Point(point.length, one.gain, one.interval, tip)


def _plot(
    load: int, points: tuple[Shown, ...], measured: tuple[Point, ...]
) -> LinePlot:
    predicted = tuple(
        Point(p.length, p.gain, None, f"draft length {p.length}: {p.gain:.2f}")
        for p in points
    )
    series = (Series(_PREDICTED, predicted), Series(_MEASURED, measured))
    every = max(1, len(points) // 8)
    return LinePlot(
        title=f"Predicted and measured gain at concurrency {load}",
        description="; ".join(
            f"{s.key.name}: {', '.join(p.tip for p in s.points)}" for s in series
        ),
        titles=("draft length", f"concurrency {load}: {GAIN}"),
        ticks=tuple((p.length, str(p.length)) for p in points[::every]),
        series=series,
        log_y=True,
        reference=(1.0, "plain decoding"),
        size=_SMALL,
    )


def _table(found: LoadedTuning, bench: Confirmation) -> Table:
    disagree = {(d.concurrency, d.arm): d.predicted for d in bench.disagreements}
    rows = [
        (
            str(load),
            arm,
            one.word,
            gain_text(one.gain, one.interval),
            numbers.decimal(disagree.get((load, arm))),
            numbers.decimal(one.acceptance_length),
        )
        for load, arms in sorted(found.measured.items())
        for arm, one in arms.items()
    ]
    columns = (
        "concurrency",
        "arm",
        "verdict",
        "measured gain",
        "predicted otherwise",
        "acceptance length",
    )
    return Table.of(columns, rows, words=3, caption="Measured against plain decoding")

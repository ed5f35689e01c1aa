"""Where a decode step's time goes: drafting, the target's forward, and the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trtspec.bench.cells import Cell
from trtspec.bench.records import Block as MeasuredBlock
from trtspec.report import numbers
from trtspec.report.document import Figure, Section, Table
from trtspec.report.plots.bars import Bar, Part, StackedBars
from trtspec.report.view import RunView

DRAFTING, FORWARD, REST = "drafting", "target forward", "rest"
PARTS = ((DRAFTING, "p-draft"), (FORWARD, "p-forward"), (REST, "p-rest"))
_LEAD = (
    "Mean milliseconds of a decode step of the whole batch, over all counted blocks. A "
    "longer step pays if it emits more tokens: their mean stands beside the bar. The "
    "rest is acceptance, rollback, sampling and scheduling."
)


class Step(NamedTuple):
    """One arm's mean step under one load; seconds, and shares from result.json."""

    load: str
    arm: str
    seconds: float
    shares: tuple[float, float, float]
    tokens: float | None


def step_time_section(view: RunView) -> Section | None:
    """Draw a bar per arm; None if no engine tells its steps."""
    steps = {cell.load.key: list(_steps(view, cell)) for cell in view.measured}
    plots = [_plot(cell, steps[cell.load.key]) for cell in view.measured]
    if not any(steps.values()):
        return None
    every = [step for of in steps.values() for step in of]
    figure = Figure(
        tuple(plot for plot in plots if plot.bars),
        "Mean decode step in milliseconds",
        parts=PARTS,
        table=_table(every),
    )
    return Section("Where a step's time goes", (figure,), _LEAD)


def _steps(view: RunView, cell: Cell) -> Iterator[Step]:
    blocks = view.raw(cell.load).blocks
    for name in view.arms_of(cell):
        values = cell.arms[name].values
        drafting, forward = values["drafting_share"], values["verification_share"]
        seconds = _mean_step([b for b in blocks if b.arm == name and not b.warm_up])
        if drafting is None or forward is None or seconds is None:
            continue
        rest = max(1 - drafting - forward, 0.0)
        yield Step(
            cell.load.words,
            name,
            seconds,
            (drafting, forward, rest),
            values["tokens_per_step"],
        )


def _mean_step(blocks: Sequence[MeasuredBlock]) -> float | None:
    decode = [block.decode for block in blocks if block.decode]
    steps = sum(times.steps for times in decode)
    if len(decode) < len(blocks) or not steps:
        return None
    return sum(times.seconds for times in decode) / steps


def _plot(cell: Cell, steps: Sequence[Step]) -> StackedBars:
    bars = tuple(
        Bar(
            step.arm,
            _remark(step),
            tuple(
                Part(name, css, 1000 * step.seconds * share, numbers.percent(share))
                for (name, css), share in zip(PARTS, step.shares, strict=True)
            ),
        )
        for step in steps
    )
    return StackedBars(
        title=f"Decode step, {cell.load.words}",
        description="; ".join(f"{b.label}: {_said(b)}" for b in bars),
        heading=cell.load.words,
        x_title="ms per step",
        bars=bars,
    )


def _remark(step: Step) -> str:
    tokens = f", {step.tokens:.2f} tokens" if step.tokens is not None else ""
    return f"{_milliseconds(step)} ms{tokens}"


def _said(bar: Bar) -> str:
    parts = ", ".join(f"{part.name} {part.shown}" for part in bar.parts)
    return f"{bar.remark}, of which {parts}"


def _milliseconds(step: Step) -> str:
    value = step.seconds * 1000
    return numbers.decimal(value, 2 if value < 100 else 0)


def _table(steps: Sequence[Step]) -> Table:
    columns = ("load", "arm", "ms per step", DRAFTING, FORWARD, REST, "tokens per step")
    rows = [
        (
            step.load,
            step.arm,
            _milliseconds(step),
            *(numbers.percent(share) for share in step.shares),
            numbers.decimal(step.tokens),
        )
        for step in steps
    ]
    return Table.of(columns, rows, words=2)

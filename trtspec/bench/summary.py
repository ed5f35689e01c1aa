"""What follows from the raw records: metrics per arm, ratios, verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trtspec.bench.acceptance import (
    acceptance_of,
    by_category,
    by_context,
    by_position,
)
from trtspec.bench.break_even import break_even
from trtspec.bench.cells import ArmSummary, BreakEven, Cell, Comparison, Control
from trtspec.bench.compare import THROUGHPUT, Statistics, ratios_between
from trtspec.bench.doubts import doubts_of
from trtspec.bench.metrics import METRICS, ArmData, RequestMetric
from trtspec.bench.outputs import compare_outputs
from trtspec.bench.power import visible_difference
from trtspec.bench.ratio import Ratio
from trtspec.bench.records import Block, Failure, Load, Sample
from trtspec.bench.result import Plan
from trtspec.bench.verdict import judge, unusable


@dataclass(frozen=True, slots=True)
class Raw:
    """The raw records of a run, or of a part of it."""

    blocks: Sequence[Block] = ()
    samples: Sequence[Sample] = ()
    failures: Sequence[Failure] = ()

    def under(self, load: Load) -> Raw:
        """Pick what belongs to one load."""
        key = load.key
        return Raw(
            [b for b in self.blocks if b.load == key],
            [s for s in self.samples if s.load == key],
            [f for f in self.failures if f.load == key],
        )

    def whole_rounds(self, arms: Sequence[str]) -> Raw:
        """Drop the rounds that not all arms have: the end of an interrupted run."""
        have = {(b.block, b.arm) for b in self.blocks if not b.warm_up}
        whole = {n for n, _ in have if all((n, arm) in have for arm in arms)}
        return Raw(
            [b for b in self.blocks if b.block in whole or b.warm_up],
            [s for s in self.samples if s.block in whole],
            self.failures,
        )


def summarize(plan: Plan, raw: Raw) -> tuple[Cell, ...]:
    """Compute everything that is reported from the raw records alone."""
    return tuple(_cell(plan, load, raw.under(load)) for load in plan.settings.loads)


def break_evens(plan: Plan, cells: Sequence[Cell]) -> dict[str, BreakEven]:
    """Give each candidate's break-even on each ladder of concurrencies.

    Prompts that are measured by category have a ladder per category.
    """
    found = {}
    for category in dict.fromkeys(cell.load.category for cell in cells):
        ladder = {
            cell.load.concurrency: cell
            for cell in cells
            if cell.load.category == category and cell.load.concurrency
        }
        if len(ladder) < 2 or not any(c.comparisons for c in ladder.values()):
            continue
        for arm in plan.candidates:
            name = f"{arm.name}, {category}" if category else arm.name
            found[name] = break_even(
                {rung: _rung(cell, arm.name) for rung, cell in ladder.items()}
            )
    return found


def _rung(cell: Cell, arm: str) -> Ratio | None:
    """Give a cell's ratio, unless nothing may be concluded from it."""
    comparison = cell.comparisons.get(arm)
    if comparison is None:
        return None
    fatal = [doubt.what for doubt in comparison.doubts if doubt.fatal]
    prompts = cell.arms[arm].percentiles["e2e"].count // cell.blocks
    if unusable(cell.blocks, prompts, fatal):
        return None
    return comparison.ratios[THROUGHPUT]


def _cell(plan: Plan, load: Load, raw: Raw) -> Cell:
    if raw.failures:
        return Cell(load=load, failures=tuple(raw.failures))
    raw = raw.whole_rounds([arm.name for arm in plan.arms])
    rounds = len({b.block for b in raw.blocks if not b.warm_up})
    if not rounds:
        return Cell(load=load, incomplete=True)
    goodput = plan.settings.goodput
    data = {
        a.name: ArmData.of(a.name, raw.blocks, raw.samples, goodput) for a in plan.arms
    }
    cell = Cell(
        load=load,
        incomplete=rounds < plan.settings.repeats,
        blocks=rounds,
        arms={name: _arm(of) for name, of in data.items()},
    )
    return _compared(plan, cell, data)


def _compared(plan: Plan, cell: Cell, data: dict[str, ArmData]) -> Cell:
    """Add the comparisons with the baseline, the control's first."""
    if plan.baseline is None:
        return cell
    off = Statistics(data[plan.baseline.name])
    control = noise = None
    if again := next((a for a in plan.arms if a.role == "control"), None):
        comparison = _comparison(plan, cell.load, data[again.name], off, None)
        noise = _speed(cell.load, comparison.ratios)
        control = Control(comparison=comparison, visible=visible_difference(noise))
    return cell.model_copy(
        update={
            "control": control,
            "comparisons": {
                arm.name: _comparison(plan, cell.load, data[arm.name], off, noise)
                for arm in plan.candidates
            },
        }
    )


def _comparison(
    plan: Plan, load: Load, on: ArmData, baseline: Statistics, control: Ratio | None
) -> Comparison:
    off = baseline.data
    ratios = ratios_between(Statistics(on), baseline)
    doubts = doubts_of(plan, on, off)
    fatal = [doubt.what for doubt in doubts if doubt.fatal]
    if fatal:  # a number that means nothing is not there to be quoted
        ratios = dict.fromkeys(ratios)
    drafted = [s.drafted for s in on.samples]
    return Comparison(
        ratios=ratios,
        outputs=compare_outputs(
            [*off.samples, *on.samples], off.arm, on.arm, greedy=plan.settings.greedy
        ),
        verdict=judge(
            _speed(load, ratios),
            ratios["e2e.p50"],
            blocks=min(len(on.blocks), len(off.blocks)),
            prompts=len({s.prompt_id for s in off.samples}),
            drafted=None if None in drafted else sum(d or 0 for d in drafted),
            control=control,
            doubts=fatal,
        ),
        lossy="; ".join(sorted({s.lossy for s in on.samples if s.lossy})),
        doubts=doubts,
    )


def _speed(load: Load, ratios: Mapping[str, Ratio | None]) -> Ratio | None:
    """Give what the verdict is about: how many times faster.

    In an open loop the arrivals set the throughput, so there it is the latency.
    """
    if load.arrivals == "closed":
        return ratios[THROUGHPUT]
    e2e = ratios["e2e.p50"]
    return e2e.inverse if e2e else None


def _arm(data: ArmData) -> ArmSummary:
    wall = sum(b.wall_seconds for b in data.blocks)
    latencies = [m for m in METRICS if isinstance(m, RequestMetric)]
    singles = [m for m in METRICS if not isinstance(m, RequestMetric)]
    return ArmSummary(
        values={m.tag: m.value(data) for m in singles},
        percentiles={m.tag: m.summarize(data) for m in latencies},
        in_flight=sum(s.e2e for s in data.samples) / wall,
        acceptance=acceptance_of(data.samples),
        positions=by_position(data.samples),
        categories=by_category(data.samples),
        contexts=by_context(data.samples),
    )

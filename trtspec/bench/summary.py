"""What follows from the raw records: metrics per arm, ratios, verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from trtspec.bench.metrics import E2E, METRICS, TPOT, TTFT, ArmData, RequestMetric
from trtspec.bench.metrics.base import Percentiles
from trtspec.bench.outputs import Outputs, compare_outputs
from trtspec.bench.ratio import (
    BlockStatistic,
    Ratio,
    median_of,
    paired_ratio,
    rate_of,
)
from trtspec.bench.records import Block, Record, Sample
from trtspec.bench.verdict import Verdict, judge
from trtspec.bench.wall_share import wall_shares

LATENCIES: tuple[RequestMetric, ...] = (TTFT(), TPOT(), E2E())

Floats = NDArray[np.float64]
Grid = dict[tuple[int, str], Sample]


class ArmSummary(Record):
    """One arm at one concurrency; keys are the metrics' tags."""

    values: dict[str, float | None] = Field(description="Metrics with one value.")
    percentiles: dict[str, Percentiles] = Field(description="Metrics per request.")
    in_flight: float = Field(
        description="Mean number of requests in flight: sum of E2E / wall seconds."
    )


class Cell(Record):
    """One concurrency: both arms and their comparison, or the reason for neither."""

    concurrency: int = Field(ge=1, description="Requests kept in flight.")
    failure: str | None = Field(
        default=None, description="Why the cell has no numbers: a request failed."
    )
    off: ArmSummary | None = Field(default=None, description="Without speculation.")
    on: ArmSummary | None = Field(default=None, description="With speculation.")
    ratios: dict[str, Ratio | None] = Field(
        default_factory=dict,
        description="On / off by metric: throughput, and p50 of latencies.",
    )
    outputs: Outputs | None = Field(default=None, description="Token ids compared.")
    verdict: Verdict | None = Field(default=None, description="What may be said.")
    lossy: str = Field(
        default="",
        description="Why outputs with speculation need not be the target's own; empty "
        "if they are.",
    )


def summarize(
    concurrency: Sequence[int],
    blocks: Sequence[Block],
    samples: Sequence[Sample],
    failures: Mapping[int, str],
    *,
    greedy: bool,
) -> tuple[Cell, ...]:
    """Compute everything that is reported from the raw records alone.

    :param failures: why a concurrency has no numbers.
    """
    return tuple(
        Cell(concurrency=c, failure=failures[c])
        if c in failures
        else _cell(
            c,
            [b for b in blocks if b.concurrency == c],
            [s for s in samples if s.concurrency == c],
            greedy=greedy,
        )
        for c in concurrency
    )


def _cell(
    concurrency: int, blocks: list[Block], samples: list[Sample], *, greedy: bool
) -> Cell:
    off = ArmData.of("off", blocks, samples)
    on = ArmData.of("on", blocks, samples)
    outputs = compare_outputs(samples, greedy=greedy)
    ratios = _ratios(on, off)
    return Cell(
        concurrency=concurrency,
        off=_arm(off),
        on=_arm(on),
        ratios=ratios,
        outputs=outputs,
        verdict=judge(
            ratios["output_throughput"],
            ratios["e2e"],
            blocks=min(len(on.blocks), len(off.blocks)),
            prompts=outputs.prompts,
            drafted=sum(s.drafted for s in on.samples),
        ),
        lossy="; ".join(sorted({s.lossy for s in on.samples if s.lossy})),
    )


def _arm(data: ArmData) -> ArmSummary:
    wall = sum(b.wall_seconds for b in data.blocks)
    latencies = [m for m in METRICS if isinstance(m, RequestMetric)]
    singles = [m for m in METRICS if not isinstance(m, RequestMetric)]
    return ArmSummary(
        values={m.tag: m.value(data) for m in singles},
        percentiles={m.tag: m.summarize(data) for m in latencies},
        in_flight=sum(s.e2e for s in data.samples) / wall,
    )


def _ratios(on: ArmData, off: ArmData) -> dict[str, Ratio | None]:
    everyone = list(dict.fromkeys(s.prompt_id for s in off.samples))
    ratios = {
        "output_throughput": paired_ratio(
            _throughput(on, everyone), _throughput(off, everyone), len(everyone)
        )
    }
    for metric in LATENCIES:
        prompts = _with_values(metric, everyone, on, off)
        ratios[metric.tag] = (
            paired_ratio(
                _median(metric, on, prompts),
                _median(metric, off, prompts),
                len(prompts),
            )
            if prompts
            else None
        )
    return ratios


def _with_values(
    metric: RequestMetric, prompts: list[str], *arms: ArmData
) -> list[str]:
    """Keep the prompts that have a value in every block of both arms."""
    without = {s.prompt_id for arm in arms for s in arm.samples if metric.of(s) is None}
    return [p for p in prompts if p not in without]


def _throughput(data: ArmData, prompts: list[str]) -> BlockStatistic:
    """Output tokens of a block over its wall time, both split by prompt."""
    grid = _grid(data)
    tokens, seconds = [], []
    for block in data.blocks:
        row = [grid[block.block, p] for p in prompts]
        tokens.append([float(s.output_tokens) for s in row])
        submitted = np.array([s.submitted for s in row])
        e2e = np.array([s.e2e for s in row])
        seconds.append(wall_shares(submitted, e2e, block.wall_seconds))
    return rate_of(np.array(tokens), np.array(seconds))


def _median(metric: RequestMetric, data: ArmData, prompts: list[str]) -> BlockStatistic:
    grid = _grid(data)
    values = [[metric.of(grid[b.block, p]) for p in prompts] for b in data.blocks]
    return median_of(np.array(values, dtype=np.float64))


def _grid(data: ArmData) -> Grid:
    return {(s.block, s.prompt_id): s for s in data.samples}

"""How a whole benchmark is run: each concurrency in turn, then the summary."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from pydantic import JsonValue

from trtspec.bench.conditions import Conditions, record_conditions
from trtspec.bench.fit import require_runnable
from trtspec.bench.load import Clock
from trtspec.bench.pairs import CellPlan, run_cell
from trtspec.bench.plan import BenchPlan
from trtspec.bench.progress import Silent, Watcher
from trtspec.bench.records import Block, Sample
from trtspec.bench.result import BenchResult
from trtspec.bench.summary import summarize
from trtspec.errors import RunError
from trtspec.run import Runner, SamplingParams


def measure(
    runner: Runner,
    plan: BenchPlan,
    watcher: Watcher | None = None,
    *,
    clock: Clock = time.perf_counter,
    conditions: Callable[[dict[str, JsonValue]], Conditions] = record_conditions,
) -> BenchResult:
    """Measure both arms at every concurrency.

    A concurrency at which a request fails has no numbers, only the failure.

    :raises UsageError: before anything is measured, if the load cannot run as asked.
    """
    require_runnable(runner, plan)
    started = _now()
    found = conditions(_json_values(runner.conditions()))
    raw = _run_cells(runner, plan, watcher or Silent(), clock)
    settings = plan.settings
    return BenchResult(
        started=started,
        finished=_now(),
        artifact=plan.artifact,
        prompts=plan.prompt_set,
        settings=settings,
        conditions=found,
        cells=summarize(
            settings.concurrency,
            raw.blocks,
            raw.samples,
            raw.failures,
            greedy=settings.greedy,
        ),
        blocks=tuple(raw.blocks),
        samples=tuple(raw.samples),
    )


@dataclass
class _Raw:
    blocks: list[Block] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    failures: dict[int, str] = field(default_factory=dict)


def _run_cells(runner: Runner, plan: BenchPlan, watcher: Watcher, clock: Clock) -> _Raw:
    raw = _Raw()
    for concurrency in plan.settings.concurrency:
        cell = _cell_plan(plan, concurrency)
        try:
            blocks, samples = run_cell(runner, cell, watcher, clock=clock)
        except RunError as error:
            raw.failures[concurrency] = str(error)
            continue
        raw.blocks.extend(blocks)
        raw.samples.extend(samples)
    return raw


def _cell_plan(plan: BenchPlan, concurrency: int) -> CellPlan:
    settings = plan.settings
    return CellPlan(
        prompts=plan.prompts,
        concurrency=concurrency,
        repeats=settings.repeats,
        output_tokens=settings.output_tokens,
        sampling=SamplingParams(
            temperature=settings.temperature,
            top_k=settings.top_k,
            top_p=settings.top_p,
            seed=settings.seed,
        ),
        prompts_cached=settings.prompts_cached,
    )


def _json_values(values: dict[str, object]) -> dict[str, JsonValue]:
    """Turn whatever an engine says of itself into JSON values."""
    plain: Any = json.loads(json.dumps(values, default=str))
    return {str(key): value for key, value in plain.items()}


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")

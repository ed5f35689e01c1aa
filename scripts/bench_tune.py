"""Measures the tuner against an exhaustive sweep, on SmolLM2-135M-Instruct.

Of every bundled workload a few prompts are decoded once with a recipe's drafter (the
trace), step costs are measured once for all of them, and draft lengths are chosen from
that. Then every draft length is really run under every load, interleaved with plain
decoding, and the choice is compared with what was best:

- regret: 1 - throughput of the chosen length / that of the best one, in each cell of
  workload x concurrency; goal: at most 3 %
- model time that the choice took / that of running everything once; goal: at most 10 %
- replayed acceptance length / measured one, for every length; goal: within 1 %
- predicted throughput ratio / measured one; goal: within 5 % in 90 % of the cells
- seconds to plan from traces and tables: 11 methods x lengths to 16 x 8 batch sizes;
  goal: below 1

    python scripts/bench_tune.py [--recipe ngram] [--repeats 3] [--output DIR]

Run it alone on the machine: another busy process changes everything.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tune_bench.cells import Cell, compared, pooled_error, within_by_chance
from tune_bench.planning import planning_seconds
from tune_bench.running import WORKLOADS, Setup, measured_sweeps, planned
from tune_bench.table import print_cells

from trtspec.errors import TrtspecError
from trtspec.files import write_atomic
from trtspec.tune.result import TuneResult
from trtspec.tune.rewrite import edited
from trtspec.tune.tuned_recipe import Source, tuned_text


def log(text: str) -> None:
    """Say how far we are."""
    print(text, file=sys.stderr, flush=True)


def numbers(text: str) -> list[int]:
    """Read a list such as 1,4,8."""
    return [int(part) for part in text.split(",")]


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--recipe", default="ngram", help="of recipes/smollm2-135m")
    add("--workloads", default="", help="such as chat,code; all if not given")
    add("--limit", type=int, default=8, help="prompts of each workload")
    add("--output-tokens", type=int, default=32)
    add("--concurrency", type=numbers, default=[1, 4, 8])
    add("--lengths", type=numbers, default=[1, 2, 3, 4, 6, 8], help="draft lengths")
    add("--repeats", type=int, default=3)
    add("--threads", type=int)
    add("--output", type=Path, help="of the runs; tunings/bench if not given")
    add("--write", type=Path, help="directory for a tuned recipe per workload")
    add("--json", type=Path, help="file for all figures")
    return parser.parse_args(arguments)


def main() -> int:
    """Plan, sweep, compare."""
    options = options_of()
    setup = Setup(
        recipe=options.recipe,
        workloads=tuple(filter(None, options.workloads.split(","))),
        limit=options.limit,
        output_tokens=options.output_tokens,
        loads=tuple(options.concurrency),
        lengths=tuple(options.lengths),
        repeats=options.repeats,
        threads=options.threads,
        output=options.output or Path("tunings/bench"),
    )
    plan = planned(setup, log)
    log(f"traces and costs: {plan.model_seconds:.1f} s in the model")
    sweeps = measured_sweeps(setup, plan, log)
    cells = [
        cell
        for name, choice in plan.choices.items()
        for cell in compared(name, choice, sweeps[name].result)
    ]
    for name, sweep in sweeps.items():
        if options.write:
            written(setup, name, sweep.tuning, options.write / f"{name}.yaml")
    once = sum(sweep.model_seconds for sweep in sweeps.values()) / setup.repeats
    planning = planning_seconds(plan, log)
    print_cells(cells)
    summary = {
        **summarized(cells),
        "model_seconds": plan.model_seconds,
        "sweep_model_seconds_once": once,
        "share_of_the_sweep": plan.model_seconds / once,
        "planning_seconds": planning,
        "conditions": plan.conditions.model_dump(mode="json"),
    }
    print(json.dumps({k: v for k, v in summary.items() if k != "conditions"}, indent=1))
    if options.json:
        document = {"summary": summary, "cells": [cell._asdict() for cell in cells]}
        write_atomic(options.json, json.dumps(document, indent=1) + "\n")
    return 0


def written(setup: Setup, workload: str, tuning: TuneResult, path: Path) -> None:
    """Write a workload's tuned recipe."""
    text = setup.recipe_file.read_text()
    source = Source(text, setup.recipe_file, path)
    path.parent.mkdir(parents=True, exist_ok=True)
    prompts = WORKLOADS / f"{workload}.jsonl"
    tuned = tuned_text(source, tuning, path.parent, prompts)
    name = f"{tuning.best.recipe}-{workload}"
    write_atomic(path, edited(tuned, {("name",): name}))


def summarized(cells: list[Cell]) -> dict[str, object]:
    """Boil the cells down to the goals."""
    loads = {(c.workload, c.concurrency): c.regret for c in cells}
    ratios = [abs(c.predicted / c.measured - 1) for c in cells if c.length]
    lengths = [abs(c.replayed / c.acceptance - 1) for c in cells if c.length]
    error = pooled_error(cells)
    return {
        "cells": len(loads),
        "regret_within_3_percent": sum(r <= 0.03 for r in loads.values()),
        "largest_regret": max(loads.values()),
        "largest_error_of_replayed_acceptance_length": max(lengths),
        "ratios": len(ratios),
        "ratios_within_5_percent": sum(r <= 0.05 for r in ratios) / len(ratios),
        "median_error_of_ratios": sorted(ratios)[len(ratios) // 2],
        "standard_error_of_measured_ratios": error,
        "a_perfect_prediction_within_5_percent": within_by_chance(error),
    }


if __name__ == "__main__":
    try:
        sys.exit(main())
    except TrtspecError as error:
        sys.exit(f"error: {error}")

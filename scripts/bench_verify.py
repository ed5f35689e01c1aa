"""How often the distribution test of trtspec verify finds a fault, and cries wolf.

    python scripts/bench_verify.py [--runs 200] [--part reference] [--part tensorrt]
        [--part pytorch] [--part smollm2 --artifacts DIR...] [--seed N]

Every part but the last prints, for the default sampling plan, the share of seeded runs
with each verdict: with no fault at most 5 % may fail, with each planted fault at least
95 % must. ``reference`` plants wrong rules of acceptance into the embedded engine,
``tensorrt`` and ``pytorch`` into the stand-ins of TensorRT-LLM's two backends, reached
through the real runners. ``smollm2`` gives one real verdict for each artifact, and the
time it took. Exits with 1 if a rate is missed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from verify_bench.rates import HEAD, NO_FAULT, Rates

from trtspec.verify.distribution import Plan, make_plan

FALSE_ALARMS = 0.05
FOUND = 0.95
PARTS = ("reference", "tensorrt", "pytorch")


def main() -> int:
    """Run the parts and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--runs", type=int, default=200, help="seeded runs per planted fault")
    add("--part", choices=(*PARTS, "smollm2"), action="append")
    add("--methods", help="drafters of part reference, such as 'drawn drafts'")
    add("--shift", type=float, help="in place of the default plan's")
    add(
        "--pool", type=float, default=6.0, help="exact answers per one that a run needs"
    )
    add("--seed", type=int, default=0, help="of the plan: other requests' seeds")
    add("--artifacts", type=Path, nargs="*", default=[], help="for part smollm2")
    chosen = parser.parse_args()
    good = True
    for part in chosen.part or PARTS:
        good &= RUN[part](chosen)
    return 0 if good else 1


def reference(chosen: argparse.Namespace) -> bool:
    """Measure on the embedded engine."""
    import torch
    from verify_bench.toy_engine import METHODS, PROMPTS, Pools

    torch.set_num_threads(1)
    good = True
    for method in chosen.methods.split(",") if chosen.methods else METHODS:
        plan = plan_for(len(PROMPTS), chosen)
        planted = Pools(method, plan, chosen.pool, 1.5).planted()
        good &= show(f"embedded engine, {method}", planted, plan, chosen.runs, PROMPTS)
    return good


def stand_ins(chosen: argparse.Namespace, backend: str) -> bool:
    """Measure through a runner of TensorRT-LLM on its stand-in."""
    from verify_bench.stand_ins import PROMPTS, planted_in

    plan = plan_for(len(PROMPTS), chosen)
    planted = planted_in(backend, plan, chosen.pool)
    return show(f"stand-in of backend {backend}", planted, plan, chosen.runs, PROMPTS)


def smollm2(chosen: argparse.Namespace) -> bool:
    """Give real verdicts."""
    from verify_bench.artifacts import PROMPTS, verdicts

    return verdicts(chosen.artifacts, plan_for(len(PROMPTS), chosen))


RUN = {
    "reference": reference,
    "tensorrt": lambda chosen: stand_ins(chosen, "tensorrt"),
    "pytorch": lambda chosen: stand_ins(chosen, "pytorch"),
    "smollm2": smollm2,
}


def plan_for(prompts: int, chosen: argparse.Namespace) -> Plan:
    """Give the default plan, or one for another shift."""
    given = {"shift": chosen.shift} if chosen.shift else {}
    return make_plan(prompts, seed=chosen.seed, **given)


def show(
    title: str,
    planted: Mapping[str, object],
    plan: Plan,
    runs: int,
    prompts: Mapping[str, object],
) -> bool:
    """Measure, print a table, and say whether all rates are as they must be."""
    from verify_bench.rates import measure

    print(f"## {title}\n\n{plan.cost(len(prompts))}\n\n{HEAD}")
    rates = measure(planted, plan, runs)  # type: ignore[arg-type]
    for name, found in rates.items():
        print(found.row(name), flush=True)
    missed = [name for name, found in rates.items() if not as_wanted(name, found)]
    print(f"\nmissed: {', '.join(missed)}\n" if missed else "\nall as wanted\n")
    return not missed


def as_wanted(name: str, found: Rates) -> bool:
    """Whether a fault is found often enough, and none is seldom enough."""
    failed = found.verdicts["fail"] / found.verdicts.total()
    return failed <= FALSE_ALARMS if name == NO_FAULT else failed >= FOUND


if __name__ == "__main__":
    sys.exit(main())

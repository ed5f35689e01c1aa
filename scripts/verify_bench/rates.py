"""Which share of seeded runs gives which verdict, drawn from pools of real answers.

An engine answers every prompt a few times as often as one run needs; each run draws its
answers from that pool without replacement, with a seed of its own, and so do all its
permutations. A single run is then exactly what a fresh one would be. Two runs share
answers, so a rate is a little less sure than the same number of fresh runs would make
it.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from trtspec.verify.distribution import Plan
from trtspec.verify.distribution.collect import Collected
from trtspec.verify.distribution.compare import Sample, compare
from trtspec.verify.distribution.judge import judge
from trtspec.verify.distribution.result import Comparison

NO_FAULT = "no fault"


@dataclass(frozen=True)
class Planted:
    """The answers of one on arm, and of the off arm and control that belong to it."""

    on: Collected
    off: Collected
    control: Collected


@dataclass
class Rates:
    """What came of the runs of one arm."""

    verdicts: Counter[str] = field(default_factory=Counter)
    shifts: list[float] = field(default_factory=list)
    seen: list[float] = field(default_factory=list)

    def add(self, verdict: str, on: Comparison) -> None:
        """Count a run."""
        self.verdicts[verdict] += 1
        self.shifts.append(on.shift)
        self.seen.append(on.smallest_shift or 1.0)

    def row(self, name: str) -> str:
        """Give it as a row of Markdown."""
        runs = self.verdicts.total()
        shares = [
            f"{self.verdicts[one] / runs:.1%}"
            for one in ("fail", "pass", "cannot tell")
        ]
        shift = f"{np.mean(self.shifts):.2f}", f"{np.mean(self.seen):.2f}"
        return f"| {name} | {runs} | {' | '.join((*shares, *shift))} |"


HEAD = (
    "| planted | runs | fail | pass | cannot tell | shift, at most | smallest found |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
)


def measure(planted: Mapping[str, Planted], plan: Plan, runs: int) -> dict[str, Rates]:
    """Draw and judge."""
    rates = {name: Rates() for name in planted}
    started = time.perf_counter()
    for run in range(runs):
        seeded = plan.model_copy(update={"seed": run})
        _one_run(planted, seeded, rates)
    spent = time.perf_counter() - started
    print(f"{runs} runs of {len(planted)} arms: {spent:.0f} s", file=sys.stderr)
    return rates


def _one_run(
    planted: Mapping[str, Planted], plan: Plan, rates: Mapping[str, Rates]
) -> None:
    rng = np.random.default_rng([plan.seed, 7])
    levels = plan.global_level, plan.prompt_level
    known: dict[int, tuple[Comparison, Comparison, Sample]] = {}
    for name, arms in planted.items():
        if id(arms.off) not in known:  # faults of one engine share its off arm
            both = draw(arms.off, plan.off_seeds, plan, rng)
            before = Sample("off", {k: v[: plan.seeds] for k, v in both.items()})
            after = Sample("off again", {k: v[plan.seeds :] for k, v in both.items()})
            off = before + after
            floor = compare(before, after, plan, plan.floor_level, plan.floor_level)
            wrong = Sample("control", draw(arms.control, plan.seeds, plan, rng))
            known[id(arms.off)] = floor, compare(wrong, off, plan, *levels), off
        floor, control, off = known[id(arms.off)]
        on = compare(
            Sample("on", draw(arms.on, plan.seeds, plan, rng)), off, plan, *levels
        )
        verdict, _ = judge(on, floor, control, arms.on.drafts(), plan)
        rates[name].add(verdict, on)


def draw(
    pool: Collected, count: int, plan: Plan, rng: np.random.Generator
) -> dict[str, list[tuple[int | str, ...]]]:
    """Draw so many answers to each prompt, none twice."""
    found = pool.sample("", plan, as_text=False).by_prompt
    return {
        name: [answers[i] for i in rng.choice(len(answers), count, replace=False)]
        for name, answers in found.items()
    }

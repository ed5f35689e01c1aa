"""How long planning takes: traces and tables are there, no model runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

from trtspec.tune.candidate import Candidate
from trtspec.tune.costs import Cost, CostTable, StepCosts
from trtspec.tune.decide import Evidence, Question, decide
from trtspec.tune.trace import PromptTrace
from tune_bench.running import Planned

METHODS = 11
LONGEST = 16
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128)


def planning_seconds(plan: Planned, log: Callable[[str], None]) -> float:
    """Plan for as many methods, lengths and batch sizes as anyone would ask for.

    The traces are the measured ones of all workloads; those of longer drafts offer as
    much more as they have. Costs are made up, since none was measured for such batches.
    """
    traces = [t for choice in plan.choices.values() for t in choice.evidence.traces]
    candidates = [
        replace(_longer(plan.candidate), name=f"method {number}")
        for number in range(METHODS)
    ]
    evidence = [Evidence(c, [_deeper(t) for t in traces], _costs()) for c in candidates]
    question = Question(BATCHES[:4], BATCHES, max(BATCHES))
    begun = perf_counter()
    decide(evidence, question)
    seconds = perf_counter() - begun
    log(
        f"planning: {METHODS} methods, lengths to {LONGEST}, {len(BATCHES)} batches, "
        f"{len(traces)} prompts: {seconds:.2f} s"
    )
    return seconds


def _longer(candidate: Candidate) -> Candidate:
    return replace(candidate, lengths=tuple(range(1, LONGEST + 1)))


def _deeper(trace: PromptTrace) -> PromptTrace:
    deepest = max(trace.offered, default=0)
    offered = tuple(LONGEST if o == deepest else o for o in trace.offered)
    return trace.model_copy(update={"offered": offered})


def _costs() -> StepCosts:
    verify = [
        Cost(batch=b, tokens=t, seconds=0.01 + 1e-5 * b * t)
        for b in BATCHES
        for t in range(1, LONGEST + 2)
    ]
    draft = [
        Cost(batch=b, tokens=t, seconds=1e-4 * t) for b in BATCHES for t in (1, LONGEST)
    ]
    return StepCosts(
        verify=CostTable(source="measured", cells=tuple(verify)),
        draft=CostTable(source="measured", cells=tuple(draft)),
    )

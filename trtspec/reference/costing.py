"""What a step costs here: to verify so many tokens, to draft so deep, by batch size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import NamedTuple

from trtspec.errors import RunError
from trtspec.methods import Method
from trtspec.reference.drafters import BaseDrafter, DraftContext, Drafter
from trtspec.reference.runner import ReferenceRunner
from trtspec.reference.tracing import TracingRule
from trtspec.reference.tree import DraftTree
from trtspec.run import Request, StepRecord

WARM_UP_STEPS = 2
STEPS = 7
"""Measured steps of a cell; their median counts."""


class CellCost(NamedTuple):
    """Medians over the steps of one cell, in seconds.

    :ivar verify: the step but for drafting: the target's forward, acceptance, rollback.
    :ivar draft: drafting.
    """

    verify: float
    draft: float


class _Repeating(BaseDrafter):
    """Drafts the last token again and again: as many as are wanted, at no cost."""

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        return [DraftTree.chain([c.tokens[-1]] * c.limit) for c in contexts]


def verify_cost(
    runner: ReferenceRunner, prompts: Sequence[tuple[int, ...]], method: Method
) -> float:
    """Measure a step that verifies as many draft tokens as the method's draft length.

    What is drafted does not matter for it, so nothing is: the costs of drafting are
    left out.

    :param prompts: one per request of the batch; their lengths are the context.
    :param method: the artifact's, with the draft length in question.
    :return: seconds.
    """
    records = _steps(runner, prompts, method, _Repeating())
    return median(r.seconds - r.draft_seconds for r in records)


def cell_cost(
    runner: ReferenceRunner,
    prompts: Sequence[tuple[int, ...]],
    method: Method | None,
) -> CellCost:
    """Measure a step of the artifact's own drafter.

    :param method: the artifact's, with the draft length in question; None: no drafting.
    """
    records = _steps(runner, prompts, method, None)
    return CellCost(
        verify=median(r.seconds - r.draft_seconds for r in records),
        draft=median(r.draft_seconds for r in records),
    )


def _steps(
    runner: ReferenceRunner,
    prompts: Sequence[tuple[int, ...]],
    method: Method | None,
    drafter: Drafter | None,
) -> list[StepRecord]:
    """Take steps that accept nothing, so that all have the same shape."""
    if runner.busy:
        raise RunError("the engine is still busy with earlier requests")
    room = method.longest_draft if method else 0
    request = Request(
        "cost/0",
        prompts[0],
        WARM_UP_STEPS + STEPS + room + 1,
        ignore_eos=True,
        speculate=method is not None,
        speculation=method,
    )
    with runner.engine.instead(rule=TracingRule(), drafter=drafter):
        for index, prompt in enumerate(prompts):
            runner.submit(replace(request, id=f"cost/{index}", prompt=prompt))
        records: list[StepRecord] = []
        while len(records) < WARM_UP_STEPS + STEPS:
            records += [r for r in runner.advance().records if r.kind == "decode"]
        for index in range(len(prompts)):
            runner.cancel(f"cost/{index}")
        while runner.busy:
            runner.advance()
    return records[WARM_UP_STEPS:]

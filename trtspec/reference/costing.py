"""What a step costs here: to verify so many tokens, to draft so deep, by batch size."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from trtspec.errors import UsageError
from trtspec.reference.drafters import BaseDrafter, DraftContext
from trtspec.reference.runner import ReferenceRunner
from trtspec.reference.tracing import (
    Listening,
    OneByOne,
    learns_from_verification,
    require_idle,
)
from trtspec.reference.tree import DraftTree
from trtspec.run import Request, StepRecord

WARM_UP_ROUNDS = 2
ROUNDS = 7
"""In each round every length has one step, in another order."""


@dataclass(frozen=True, slots=True)
class Grid:
    """What is measured at one batch size.

    :param prompts: one per request of the batch; their lengths are the context.
    :param lengths: draft lengths; 0 among them for a step without drafting.
    """

    prompts: Sequence[tuple[int, ...]]
    lengths: Sequence[int]
    rounds: int = ROUNDS
    seed: int = 0

    @property
    def steps(self) -> int:
        """Steps that it takes, warm-up included."""
        return (WARM_UP_ROUNDS + self.rounds) * len(self.lengths)


class Timed(NamedTuple):
    """What a grid brought.

    :ivar seconds: of each counted step, by draft length.
    :ivar records: all steps of the engine, prefill and warm-up included.
    """

    seconds: dict[int, list[float]]
    records: list[StepRecord]


class _Repeating(BaseDrafter):
    """Drafts the last token again and again, at no cost."""

    def __init__(self) -> None:
        self.most = 0

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        return [
            DraftTree.chain([c.tokens[-1]] * min(c.limit, self.most)) for c in contexts
        ]


def verify_costs(runner: ReferenceRunner, grid: Grid) -> Timed:
    """Time steps that verify so many draft tokens, but for the drafting.

    What is drafted does not matter for it.

    :param runner: its draft length is at least the grid's longest.
    """
    return _timed(runner, grid, _Repeating(), drafting=False)


def draft_costs(runner: ReferenceRunner, grid: Grid) -> Timed:
    """Time the drafting of so many tokens by the artifact's own drafter.

    The target does not read them unless the drafter learns from that.
    """
    drafter = runner.engine.drafter
    if drafter is None:
        raise ValueError("an artifact without a drafter has no drafting to time")
    listening = Listening(drafter, verify=learns_from_verification(runner))
    return _timed(runner, grid, listening, drafting=True)


def _timed(
    runner: ReferenceRunner,
    grid: Grid,
    drafter: _Repeating | Listening,
    *,
    drafting: bool,
) -> Timed:
    """Take steps that accept nothing, so that all of one length have the same shape.

    Lengths take turns, so that what disturbs the machine for a while disturbs all.
    """
    seconds: dict[int, list[float]] = defaultdict(list)
    records: list[StepRecord] = []
    with _batch(runner, grid, drafter, records):
        for number, length in enumerate(_order(grid)):
            drafter.most = length
            (step,) = runner.advance().records
            records.append(step)
            if number < WARM_UP_ROUNDS * len(grid.lengths):
                continue
            spent = (
                step.draft_seconds if drafting else step.seconds - step.draft_seconds
            )
            seconds[length].append(spent)
    return Timed(dict(seconds), records)


def _order(grid: Grid) -> Iterator[int]:
    chance = random.Random(grid.seed)
    for _ in range(WARM_UP_ROUNDS + grid.rounds):
        yield from chance.sample(list(grid.lengths), len(grid.lengths))


@contextmanager
def _batch(
    runner: ReferenceRunner,
    grid: Grid,
    drafter: _Repeating | Listening,
    records: list[StepRecord],
) -> Iterator[None]:
    """Fill the batch, and empty it again.

    :param records: gets those of the prefill.
    """
    require_idle(runner)
    longest = runner.engine.method.longest_draft
    tokens = grid.steps + longest + 2  # so that no step is cut at the end
    room = min(runner.max_input_tokens, runner.max_total_tokens - tokens)
    if room < 1:
        raise UsageError(
            f"{grid.steps} steps with {longest} draft tokens do not fit",
            where="limits.max_total_tokens",
            allowed=f"above {tokens}",
            action="raise it in the recipe, or try fewer lengths",
        )
    names = [f"cost/{index}" for index in range(len(grid.prompts))]
    with runner.engine.instead(rule=OneByOne(), drafter=drafter):
        for name, prompt in zip(names, grid.prompts, strict=True):
            runner.submit(Request(name, prompt[:room], tokens, ignore_eos=True))
        while len(runner.engine.running) < len(names):
            records += runner.advance().records
        yield
        for name in names:
            runner.cancel(name)
        while runner.busy:
            runner.advance()

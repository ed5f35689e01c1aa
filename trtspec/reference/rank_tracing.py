"""Which rank a drafter gives each token of the target's own answers, place by place.

The answers are decoded first. Then they are decoded once more, and at every place the
drafter reads what the target is about to write, as if those were the nodes of a tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from trtspec.errors import RunError, UsageError
from trtspec.reference.drafters import DraftContext
from trtspec.reference.drafters.grown import GrowingDrafter
from trtspec.reference.growth.following import FollowingPlan
from trtspec.reference.runner import ReferenceRunner
from trtspec.reference.tracing import OneByOne, Place, Traced, require_idle
from trtspec.reference.tree import NO_DRAFT, DraftTree
from trtspec.run import Completion, Request, StepRecord, StepResult


class Following:
    """Follows known answers in place of drafting; nothing of it is verified.

    :ivar texts: what each running request will emit from here on.
    :ivar ranks: what was noted in the last step, by slot.
    """

    forward_seconds = 0.0

    def __init__(self, drafter: GrowingDrafter, ranks: int, depth: int) -> None:
        self._drafter, self._most, self._depth = drafter, ranks, depth
        self.reads = drafter.reads
        self.observe, self.move = drafter.observe, drafter.move
        self.release = drafter.release
        self.texts: list[tuple[int, ...]] = []
        self.ranks: list[tuple[int, ...]] = []

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        """Note the ranks; draft nothing."""
        drafting = [slot for slot, context in enumerate(contexts) if context.limit > 0]
        texts = [self.texts[slot] for slot in drafting]
        plan = FollowingPlan(texts, self._most, self._depth)
        with self._drafter.growing_by(plan):
            self._drafter.propose(contexts)
        self.ranks = [()] * len(contexts)
        for slot, growth in zip(drafting, plan.growths, strict=True):
            self.ranks[slot] = growth.ranks
        return [NO_DRAFT] * len(contexts)


def trace_ranks(
    runner: ReferenceRunner, requests: Sequence[Request], ranks: int, depth: int
) -> Traced:
    """Decode twice and note at every place the ranks of what comes.

    :param ranks: so many of the likeliest tokens below a node are looked at.
    :param depth: most levels of a tree.
    :raises UsageError: if a request samples: what is accepted is a matter of chance.
    :raises RunError: if the runner is busy, its drafter grows no trees by rank, or the
        second answer is not the first.
    """
    require_idle(runner)
    drafter = runner.engine.drafter
    if not isinstance(drafter, GrowingDrafter):
        raise RunError("the drafter grows no trees, so no rank can be told")
    if not all(request.sampling.greedy for request in requests):
        raise UsageError(
            "a tree with sampled requests",
            allowed="temperature 0: what is accepted depends on no order of trial",
            action="trace it greedily, or measure it: trtspec bench",
        )
    records: list[StepRecord] = []
    plain = [replace(request, speculate=False) for request in requests]
    first = _completions(runner, plain, records)
    again = _Again(runner, Following(drafter, ranks, depth), first, records)
    again.run(requests)
    for request in requests:
        if again.done[request.id].tokens != first[request.id].tokens:
            raise RunError(
                "the second answer is another one, so its ranks cannot be told",
                where=f"request {request.id}",
                action="trace in float32",
            )
    completions = tuple(again.done[request.id] for request in requests)
    places = tuple(
        tuple(Place(len(r), 0, len(r), len(r), r) for r in again.ranks[request.id])
        for request in requests
    )
    return Traced(completions, places, tuple(records))


@dataclass
class _Again:
    """The second time that answers are decoded.

    :ivar ranks: of each request, place by place.
    """

    runner: ReferenceRunner
    following: Following
    answers: dict[str, Completion]
    records: list[StepRecord]
    ranks: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)
    done: dict[str, Completion] = field(default_factory=dict)

    def run(self, requests: Sequence[Request]) -> None:
        with self.runner.engine.instead(rule=OneByOne(), drafter=self.following):
            for request in requests:
                self.ranks[request.id] = []
                self.runner.submit(request)
            while self.runner.busy:
                self._step()

    def _step(self) -> None:
        """Do one engine step; slot i holds the i-th running request."""
        running = [
            (one.request.id, len(one.completion.tokens))
            for one in self.runner.engine.running
        ]
        self.following.ranks = []
        self.following.texts = [
            tuple(self.answers[name].tokens[emitted:]) for name, emitted in running
        ]
        result = self.runner.advance()
        self.records += result.records
        if any(record.kind == "decode" for record in result.records):
            ranks = self.following.ranks or [()] * len(running)
            for (name, _), own in zip(running, ranks, strict=True):
                self.ranks[name].append(own)
        self.done |= _ended(result)


def _ended(result: StepResult) -> dict[str, Completion]:
    return {c.request_id: c.completion for c in result.chunks if c.completion}


def _completions(
    runner: ReferenceRunner, requests: Sequence[Request], records: list[StepRecord]
) -> dict[str, Completion]:
    for request in requests:
        runner.submit(request)
    done = dict[str, Completion]()
    while runner.busy:
        result = runner.advance()
        records += result.records
        done |= _ended(result)
    return done

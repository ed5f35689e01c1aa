"""From traces and costs to a choice of method and draft lengths; runs no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log
from typing import NamedTuple

from trtspec.errors import UsageError
from trtspec.methods import Method
from trtspec.methods.draft_length import draft_length_at
from trtspec.tune.candidate import Candidate
from trtspec.tune.choose import as_draft_length, constant, schedule
from trtspec.tune.costs import StepCosts
from trtspec.tune.predict import Prediction, predict, predict_plain, together
from trtspec.tune.rank_tree import Tree, with_tree
from trtspec.tune.replay import GroupSize
from trtspec.tune.steady import Point, point, walked
from trtspec.tune.trace import PromptTrace

Chosen = int | dict[int, int] | None
"""A recipe's ``draft_length``; None: do not speculate."""


class Replayable(NamedTuple):
    """What one length is replayed from.

    :ivar depth: draft length to replay with.
    """

    traces: Sequence[PromptTrace]
    depth: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the choice for one candidate is made from.

    :param traces: of every prompt; of sampled ones several courses, one after another.
    :param trees: of heads that do not see one another, the tree of each size.
    :param courses: how many courses.
    :param one_length: whether one length has to do for all batch sizes.
    """

    candidate: Candidate
    traces: Sequence[PromptTrace]
    costs: StepCosts
    trees: Mapping[int, Tree] = field(default_factory=dict)
    courses: int = 1
    one_length: bool = False

    @property
    def lengths(self) -> tuple[int, ...]:
        """Draft lengths, or nodes of trees, that are compared."""
        return tuple(self.trees) if self.candidate.ranked else self.candidate.lengths

    @property
    def is_constant(self) -> bool:
        """Whether one setting has to do for all batch sizes: of a tree it has to."""
        return self.one_length or self.candidate.ranked

    def at(self, length: int) -> Replayable:
        """Give what a length, or the tree of so many nodes, is replayed from."""
        tree = self.trees.get(length)
        if tree is None:
            return Replayable(self.traces, length)
        traces = [with_tree(trace, tree) for trace in self.traces]
        return Replayable(traces, max(map(len, tree)))

    def method_with(self, length: int | dict[int, int]) -> Method:
        """Give the method with another draft length, or the tree of so many nodes."""
        if isinstance(length, int):
            return self.candidate.method_of(length, self.trees.get(length))
        return self.candidate.method_with(length)


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be decided.

    :param loads: concurrencies of the workload.
    :param batches: batch sizes that a schedule may tell apart, the loads among them.
    :param most_running: requests that an artifact runs at once.
    :param group_size: how the engine reads prompts together.
    """

    loads: Sequence[int]
    batches: Sequence[int]
    most_running: int
    group_size: GroupSize = len


@dataclass(frozen=True, slots=True)
class Choice:
    """What one candidate would do.

    :param surface: by batch size, a point for each draft length, 0 first.
    :param lengths: chosen for each batch size.
    :param draft_length: the same as a recipe says it.
    """

    evidence: Evidence
    question: Question
    surface: Mapping[int, Sequence[Point]]
    lengths: Mapping[int, int]
    draft_length: Chosen
    _known: dict[str, Prediction] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the candidate."""
        return self.evidence.candidate.name

    def with_lengths(self, lengths: Mapping[int, int]) -> Choice:
        """Give the same with other lengths; or with one, where one has to do."""
        most = self.question.most_running
        if not self.evidence.is_constant:
            chosen = as_draft_length(lengths, most)
            return replace(self, lengths=lengths, draft_length=chosen, _known={})
        first = lengths[min(lengths)]
        same = dict.fromkeys(lengths, first)
        return replace(self, lengths=same, draft_length=first or None, _known={})

    @property
    def tree(self) -> Tree | None:
        """The chosen tree, where trees are compared."""
        chosen = self.draft_length
        return self.evidence.trees.get(chosen) if isinstance(chosen, int) else None

    def predicted(self, load: int) -> Prediction:
        """Replay the workload under a load with the chosen lengths."""
        return self.with_length(load, self.draft_length or 0)

    def with_length(self, load: int, draft_length: int | dict[int, int]) -> Prediction:
        """Replay the workload under a load; 0 is plain decoding."""
        key = f"{load} {draft_length}"
        if key not in self._known:
            self._known[key] = self._replayed(load, draft_length)
        return self._known[key]

    def _replayed(self, load: int, draft_length: int | dict[int, int]) -> Prediction:
        traces, lengths = self.evidence.traces, draft_length
        if isinstance(draft_length, int) and draft_length:
            traces, lengths = self.evidence.at(draft_length)
        prompts = len(traces) // self.evidence.courses
        costs, group_size = self.evidence.costs, self.question.group_size
        parts = [
            _enough(traces[start : start + prompts], load)
            for start in range(0, len(traces), prompts)
        ]
        if not draft_length:
            return together(
                [predict_plain(part, costs, load, group_size) for part in parts]
            )

        def length_at(running: int) -> int:
            return draft_length_at(lengths, running)

        return together(
            [predict(part, costs, load, length_at, group_size) for part in parts]
        )

    def gain(
        self, load: int, draft_length: int | dict[int, int] | None = None
    ) -> float:
        """Predicted throughput / that of plain decoding.

        :param draft_length: the chosen lengths if not given.
        """
        length = (self.draft_length or 0) if draft_length is None else draft_length
        plain = self.with_length(load, 0).throughput
        return self.with_length(load, length).throughput / plain

    @property
    def mean_gain(self) -> float:
        """Mean over the loads of the gain's natural logarithm."""
        loads = self.question.loads
        return sum(log(self.gain(load)) for load in loads) / len(loads)


def _enough(traces: Sequence[PromptTrace], load: int) -> Sequence[PromptTrace]:
    """Repeat a workload that could not keep so many requests in flight."""
    times = 1 if load <= len(traces) else -(-2 * load // len(traces))
    return (
        [
            trace.model_copy(update={"prompt_id": f"{trace.prompt_id}/{round_}"})
            for round_ in range(times)
            for trace in traces
        ]
        if times > 1
        else traces
    )


def decide(evidence: Sequence[Evidence], question: Question) -> list[Choice]:
    """Choose for every candidate; the one that gains most over the loads comes first.

    :raises UsageError: if there is nothing to decide from.
    """
    for each in evidence:
        _require_steps(each)
    choices = [_choice(each, question) for each in evidence]
    return sorted(choices, key=lambda choice: -choice.mean_gain)


def surface(evidence: Evidence, batches: Sequence[int]) -> dict[int, tuple[Point, ...]]:
    """Give a point for each batch size and draft length, plain decoding among them."""
    walks = [walked(evidence.traces, 0)]
    walks += [walked(*evidence.at(length), length) for length in evidence.lengths]
    return {
        batch: tuple(point(walk, batch, evidence.costs) for walk in walks)
        for batch in batches
    }


def _choice(evidence: Evidence, question: Question) -> Choice:
    found = surface(evidence, question.batches)
    chosen = constant if evidence.is_constant else schedule
    choice = Choice(evidence, question, found, {}, None)
    return choice.with_lengths(chosen(found))


def by_category(evidence: Evidence, question: Question) -> dict[str, dict[int, int]]:
    """Choose for each category of prompts alone, if there is more than one.

    :return: draft length by batch size, by category.
    """
    names = list(dict.fromkeys(trace.category for trace in evidence.traces))
    if len(names) < 2:
        return {}
    found = {}
    for name in names:
        own = [trace for trace in evidence.traces if trace.category == name]
        part = replace(evidence, traces=own)
        if any(trace.emitted > 1 for trace in own):
            found[name] = schedule(surface(part, question.batches))
    return found


def _require_steps(evidence: Evidence) -> None:
    where = evidence.candidate.name
    if not evidence.traces:
        raise UsageError("the trace is empty", where=where, action="make it again")
    if all(trace.emitted < 2 for trace in evidence.traces):
        raise UsageError(
            "every answer has one token only, so no step is ever taken",
            where=where,
            allowed="answers of at least 2 tokens",
            action="raise --output-tokens, or use other prompts",
        )

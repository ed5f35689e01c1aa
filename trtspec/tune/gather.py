"""How traces and step costs are got: made, taken from before, or priced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from trtspec.files import write_atomic
from trtspec.reference.runner import ReferenceRunner
from trtspec.tune.candidate import SIZES, Candidate
from trtspec.tune.costs import CostTable, StepCosts
from trtspec.tune.decide import Evidence
from trtspec.tune.drawn import drawn
from trtspec.tune.paths import costs_file, traces_file
from trtspec.tune.rank_tree import best_trees
from trtspec.tune.reference import ReferenceBench
from trtspec.tune.trace_file import TraceSet, read_traces, require_same, write_traces

Traced = Sequence[tuple[Candidate, TraceSet]]


@dataclass(frozen=True, slots=True)
class Pricing:
    """A GPU whose steps are priced.

    :param host_overhead: seconds on the host per round that drafts; None for a
        published figure.
    """

    gpu: str
    host_overhead: float | None = None


class Gathered(NamedTuple):
    """What a choice is made from.

    :ivar notes: what has to be said of the costs.
    """

    evidence: list[Evidence]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gatherer:
    """Gets traces and costs of all candidates, and keeps them as files.

    :param output: directory of the tuning.
    :param before: directory of an earlier one, whose traces are taken where they fit.
    :param pricing: prices steps in place of measuring them.
    :param say: told what is done next, a line each.
    """

    bench: ReferenceBench
    output: Path
    before: Path | None
    pricing: Pricing | None
    say: Callable[[str], None]

    def gather(self, target: ReferenceRunner) -> Gathered:
        """Make traces and costs.

        :raises UsageError: if a trace of before is of other models or prompts.
        """
        traced: list[tuple[Candidate, TraceSet]] = []
        drafts: list[CostTable] = []
        for candidate in self.bench.candidates:
            self.say(f"{candidate.name}: traces and drafting costs")
            with self.bench.opened(candidate, target) as runner:
                traces = self.traces(candidate, runner)
                write_traces(self.traces_file(candidate), traces)
                traced.append((candidate, traces))
                if self.pricing is None:
                    drafts.append(self.bench.draft_table(candidate, runner))
        if self.pricing is not None:
            return self._priced(traced, self.pricing)
        self.say("verification costs")
        verify = self.bench.verify_table(target, verified_lengths(traced))
        return Gathered(
            [
                self.kept(candidate, traces, StepCosts(verify=verify, draft=draft))
                for (candidate, traces), draft in zip(traced, drafts, strict=True)
            ]
        )

    def traces(self, candidate: Candidate, runner: ReferenceRunner) -> TraceSet:
        """Take a candidate's trace of before, or make it."""
        if self.before is None:
            return self.bench.trace(candidate, runner)
        path = traces_file(self.before, candidate.name)
        if not path.exists():
            self.say(f"{candidate.name}: no trace at {path}, so a new one is made")
            return self.bench.trace(candidate, runner)
        traces = read_traces(path)
        require_same(traces.head, self.bench.head(candidate, runner), str(path))
        self.say(f"{candidate.name}: trace taken from {path}")
        return traces

    def _priced(self, traced: Traced, pricing: Pricing) -> Gathered:
        from trtspec.tune.price.band import doubts
        from trtspec.tune.price.overhead import Overhead
        from trtspec.tune.price.prices import price_costs

        host = pricing.host_overhead
        overhead = None if host is None else Overhead(round_seconds=host)
        evidence, told = [], list[str]()
        for candidate, traces in traced:
            priced = price_costs(
                candidate.as_deployed(),
                pricing.gpu,
                range(1, max(self.bench.batches) + 1),
                verified_lengths(traced),
                _context(traces),
                overhead=overhead,
            )
            found = self.kept(candidate, traces, priced.costs)
            differing = doubts(priced, found, self.bench.batches)
            lines = [*priced.told(), *(doubt.told() for doubt in differing)]
            told += [f"{candidate.name}: {line}" for line in lines]
            evidence.append(found)
        return Gathered(evidence, tuple(dict.fromkeys(told)))

    def traces_file(self, candidate: Candidate) -> Path:
        """Say where a candidate's trace is kept."""
        return traces_file(self.output, candidate.name)

    def kept(
        self, candidate: Candidate, traces: TraceSet, costs: StepCosts
    ) -> Evidence:
        """Keep a candidate's costs as a file, and give what is decided from."""
        document = costs.model_dump_json(indent=1)
        write_atomic(costs_file(self.output, candidate.name), document + "\n")
        trees = best_trees(traces.prompts, SIZES) if candidate.ranked else {}
        courses = drawn(traces.prompts)
        every = [trace for course in courses for trace in course]
        return Evidence(candidate, every, costs, trees, len(courses))


def _context(traces: TraceSet) -> int:
    """Give the tokens that a request has in the cache, about the mean of a decode."""
    tokens = sum(p.prompt_tokens + p.emitted / 2 for p in traces.prompts)
    return max(2, round(tokens / len(traces.prompts)))


def verified_lengths(traced: Traced) -> list[int]:
    """Which numbers of draft tokens the target has to be timed with.

    All that chains draft; of fixed trees the sizes for which there is one; of other
    trees the most nodes, and two sizes on the way there.
    """
    lengths: set[int] = set()
    for candidate, traces in traced:
        if candidate.ranked:
            lengths |= set(best_trees(traces.prompts, SIZES))
            continue
        if candidate.cut_anywhere:
            lengths |= set(candidate.lengths)
            continue
        read = [max(p.verified or p.offered, default=1) for p in traces.prompts]
        most = max(read, default=1)
        lengths |= {max(1, most // 3), max(1, 2 * most // 3), max(1, most)}
    return sorted(lengths)

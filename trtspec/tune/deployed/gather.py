"""How evidence is got for a recipe of another backend: traces here, times there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from trtspec.reference.runner import ReferenceRunner
from trtspec.tune.bill import Meter
from trtspec.tune.candidate import SIZES, Candidate
from trtspec.tune.decide import Evidence
from trtspec.tune.deployed.accepted import trace_of
from trtspec.tune.deployed.setting import Settings
from trtspec.tune.deployed.shop import Shop
from trtspec.tune.deployed.tables import step_costs
from trtspec.tune.deployed.timing import Timed, Timing, usual_reading
from trtspec.tune.gather import Gatherer, Traced
from trtspec.tune.rank_tree import best_trees
from trtspec.tune.trace_file import TraceSet, write_traces


@dataclass(frozen=True, slots=True)
class DeployedGatherer:
    """Traces candidates on backend reference, and times them on their own.

    :param gatherer: makes the traces, and keeps traces and costs.
    :param shops: by candidate.
    :param meter: gets what the timing takes.
    """

    gatherer: Gatherer
    shops: Mapping[str, Shop]
    meter: Meter

    def trace(self, target: ReferenceRunner) -> Traced:
        """Make the traces of all candidates; see ``Gatherer``."""
        bench, traced = self.gatherer.bench, []
        for candidate in bench.candidates:
            self.gatherer.say(f"{candidate.name}: traces, on backend reference")
            with bench.opened(candidate, target) as runner:
                traces = self.gatherer.traces(candidate, runner)
            write_traces(self.gatherer.traces_file(candidate), traces)
            traced.append((candidate, traces))
        return traced

    def time(
        self, candidates: Sequence[tuple[Candidate, TraceSet | None]]
    ) -> tuple[list[Evidence], dict[str, JsonValue]]:
        """Time the steps of all candidates.

        :param candidates: with their traces; None: made of what their own backend has
            accepted with the longest draft.
        :return: and what the first one's runner says of itself.
        """
        evidence, timed = [], list[Timed]()
        for candidate, traces in candidates:
            backend = settings_of(candidate).recipe.backend
            self.gatherer.say(f"{candidate.name}: times of steps, on backend {backend}")
            found, one = self._timed(candidate, traces)
            evidence.append(found)
            timed.append(one)
        return evidence, timed[0].conditions

    def _timed(
        self, candidate: Candidate, traces: TraceSet | None
    ) -> tuple[Evidence, Timed]:
        bench = self.gatherer.bench
        settings = settings_of(candidate)
        ranked = candidate.ranked and traces is not None
        trees = best_trees(traces.prompts, SIZES) if ranked and traces else {}
        lengths = lengths_to_time(
            tuple(trees) or candidate.lengths, every=settings.by_request
        )
        timing = Timing(bench.prompts, bench.batches, bench.sampling, self.meter)
        timed = timing.run(
            settings,
            {n: candidate.method_of(n, trees.get(n)) for n in lengths},
            self.shops[candidate.name],
            answers=0 if traces else bench.output_tokens,
        )
        if traces is None:
            traces = self._accepted(candidate, timed)
        costs = step_costs(
            timed.seconds,
            usual_reading(timed),
            most_read=most_read(candidate, traces),
            by_nodes=candidate.ranked,
        )
        return self.gatherer.kept(candidate, traces, costs), timed

    def _accepted(self, candidate: Candidate, timed: Timed) -> TraceSet:
        """Make traces of the answers with the longest draft, and keep them."""
        assert timed.workload is not None, "it was asked for"
        bench = self.gatherer.bench
        found = tuple(
            trace_of(o, candidate.lengths[-1], bench.output_tokens, prompt.category)
            for o, prompt in zip(timed.workload.answered, bench.prompts, strict=True)
        )
        traces = TraceSet(bench.head_of(candidate, timed.longest), found)
        write_traces(self.gatherer.traces_file(candidate), traces)
        return traces


def settings_of(candidate: Candidate) -> Settings:
    """Say what a candidate's backend needs for each way of drafting."""
    recipe = candidate.original or candidate.artifact.recipe
    return Settings(recipe, candidate.method)


def lengths_to_time(lengths: Sequence[int], *, every: bool) -> list[int]:
    """Which draft lengths are timed; between them the straight line counts.

    :param every: one artifact serves all of them.
    """
    if every:
        return list(lengths)
    return sorted({lengths[0], lengths[(len(lengths) - 1) // 2], lengths[-1]})


def most_read(candidate: Candidate, traces: TraceSet) -> int:
    """Most draft tokens that the target reads in a step of a trace."""
    read = [max(p.verified or p.offered, default=1) for p in traces.prompts]
    return max(1, *candidate.lengths, *read)

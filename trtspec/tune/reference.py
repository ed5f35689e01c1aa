"""Traces and step costs, measured on the reference backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from statistics import median, median_low

from pydantic import JsonValue
from scipy.stats import theilslopes

from trtspec.bench.driver import BenchPrompt
from trtspec.bench.in_process import InProcess
from trtspec.build.artifact import DRAFT, TARGET, Artifact
from trtspec.files import sha256_json
from trtspec.methods import Medusa, NGram
from trtspec.reference.costing import Grid, Timed, draft_costs, verify_costs
from trtspec.reference.rank_tracing import trace_ranks
from trtspec.reference.runner import ReferenceRunner, open_runner
from trtspec.reference.tracing import Traced, trace
from trtspec.run import Request, SamplingParams, StepRecord
from trtspec.tune.bill import Meter
from trtspec.tune.candidate import RANKS, SIZES, Candidate, levels_of
from trtspec.tune.costs import Cost, CostTable, error_of_median
from trtspec.tune.record import prompt_trace
from trtspec.tune.trace_file import TraceHead, TraceSet

CONTEXTS_APART = 64
"""Tokens between short and long prompts from which both are timed."""


@dataclass
class ReferenceBench:
    """Loads candidates one after the other beside one target, and measures them.

    :param candidates: all of one target.
    :param prompts: the workload, as the model sees it.
    :param output_tokens: most tokens per answer.
    :param batches: batch sizes whose costs are measured.
    :param sampling: of the workload; prompt i has the i-th seed from its own on.
    """

    candidates: Sequence[Candidate]
    prompts: Sequence[BenchPrompt]
    output_tokens: int
    batches: Sequence[int]
    sampling: SamplingParams = field(default_factory=SamplingParams)
    device: str = "cpu"
    threads: int | None = None
    traces: Meter = field(default_factory=lambda: Meter("traces"))
    costs: Meter = field(default_factory=lambda: Meter("costs"))

    @contextmanager
    def target(self) -> Iterator[ReferenceRunner]:
        """Load the target, ready to verify the longest draft of all candidates."""
        longest = max(c.method.verified_tokens for c in self.candidates) - 1
        longest = max(longest, *(c.lengths[-1] for c in self.candidates))
        artifact = self.candidates[0].artifact
        recipe = artifact.recipe.model_copy(
            update={"speculation": NGram(method="ngram", draft_length=longest)}
        )
        with self._open(replace(artifact, recipe=recipe), self.costs, None) as runner:
            yield runner

    @contextmanager
    def opened(
        self, candidate: Candidate, target: ReferenceRunner
    ) -> Iterator[ReferenceRunner]:
        """Load a candidate on the target that is loaded already."""
        artifact = candidate.traced_artifact()
        with self._open(artifact, self.traces, target) as runner:
            yield runner

    def trace(self, candidate: Candidate, runner: ReferenceRunner) -> TraceSet:
        """Decode the workload once and note what the candidate would have brought."""
        first = self.sampling.seed
        requests = [
            Request(
                prompt.id,
                prompt.tokens or (),
                self.output_tokens,
                replace(self.sampling, seed=first + index),
            )
            for index, prompt in enumerate(self.prompts)
        ]
        with self.traces.running():
            found = _traced(candidate, runner, requests)
        self.traces.add(found.records)
        kept = tuple(
            prompt_trace(
                one,
                places,
                limit=self.output_tokens,
                category=p.category,
                ranked=candidate.ranked,
            )
            for one, places, p in zip(
                found.completions, found.places, self.prompts, strict=True
            )
        )
        return TraceSet(self.head(candidate, runner), kept)

    def verify_table(
        self, target: ReferenceRunner, lengths: Sequence[int]
    ) -> CostTable:
        """Measure what verifying costs, whoever drafts."""
        short, long = self._ends()
        parts = [(short, [0, *lengths])]
        if long - short > CONTEXTS_APART:
            # what a context adds hardly depends on the tokens
            parts.append((long, [0, lengths[-1]]))
        grids = [self._grid(b, *part) for part in parts for b in self.batches]
        timed = [self._timed(verify_costs, target, grid) for grid in grids]
        start, per_token = reading_line(
            [
                (step.running * len(grid.prompts[0]), step.seconds)
                for grid, one in zip(grids, timed, strict=True)
                for step in _prefills(one)
            ]
        )
        table = _table(grids, timed, 1, per_token)
        return table.model_copy(update={"reading_start": start})

    def draft_table(self, candidate: Candidate, runner: ReferenceRunner) -> CostTable:
        """Measure what the candidate's drafting costs.

        A drafter with a cache of its own reads the prompts in its first step.
        """
        lengths = _drafted_lengths(candidate)
        size = median_low(len(p.tokens or ()) for p in self.prompts)
        grids = [self._grid(b, size, lengths) for b in self.batches]
        timed = [self._timed(draft_costs, runner, grid) for grid in grids]
        read = 0.0
        for one in timed:
            first = next(s for s in one.records if s.kind == "decode")
            usual = max(median(each) for each in one.seconds.values())
            read += max(0.0, first.draft_seconds - usual)
        tokens = sum(len(prompt) for grid in grids for prompt in grid.prompts)
        table = _table(grids, timed, 0, read / tokens)
        return _for_all_trees(table) if _drafts_at_once(candidate) else table

    def _timed(
        self,
        measure: Callable[[ReferenceRunner, Grid], Timed],
        runner: ReferenceRunner,
        grid: Grid,
    ) -> Timed:
        with self.costs.running():
            timed = measure(runner, grid)
        self.costs.add(timed.records)
        return timed

    def head(self, candidate: Candidate, runner: ReferenceRunner) -> TraceHead:
        """Say what a trace of a candidate holds for."""
        return self.head_of(candidate, InProcess(runner).conditions())

    def head_of(
        self, candidate: Candidate, conditions: dict[str, JsonValue]
    ) -> TraceHead:
        """Say what a trace holds for that was made under some conditions."""
        artifact = candidate.artifact
        return TraceHead(
            name=artifact.name,
            speculation=candidate.method.model_dump(mode="json"),
            cut_anywhere=candidate.cut_anywhere,
            target_sha256=_files_sha256(artifact, TARGET) or "",
            draft_sha256=_files_sha256(artifact, DRAFT),
            prompts_sha256=sha256_json([p.tokens for p in self.prompts]),
            output_tokens=self.output_tokens,
            sampling=asdict(self.sampling),
            dtype=artifact.recipe.target.dtype,
            engine=conditions,
        )

    def _ends(self) -> tuple[int, int]:
        """Give the usual length of the workload's short prompts, and of its long ones.

        Of the shortest and the longest quarter.
        """
        sizes = sorted(len(p.tokens or ()) for p in self.prompts)
        part = max(1, len(sizes) // 4)
        return median_low(sizes[:part]), median_low(sizes[-part:])

    def _grid(self, batch: int, size: int, lengths: Sequence[int]) -> Grid:
        """Take prompts of one length, cut or repeated: what they say is the same."""
        prompts = [p.tokens or () for p in self.prompts]
        rows = [prompts[index % len(prompts)] for index in range(batch)]
        return Grid([(row * (size // len(row) + 1))[:size] for row in rows], lengths)

    @contextmanager
    def _open(
        self, artifact: Artifact, meter: Meter, lender: ReferenceRunner | None
    ) -> Iterator[ReferenceRunner]:
        with meter.running():
            runner = open_runner(
                artifact, device=self.device, threads=self.threads, lender=lender
            )
        meter.started()
        try:
            yield runner
        finally:
            runner.close()


def _traced(
    candidate: Candidate, runner: ReferenceRunner, requests: Sequence[Request]
) -> Traced:
    """Trace drafts, or the ranks below nodes that are drafted one after the other."""
    if candidate.ranked and not _drafts_at_once(candidate):
        return trace_ranks(runner, requests, RANKS, levels_of(candidate.method))
    return trace(runner, requests)


def _drafts_at_once(candidate: Candidate) -> bool:
    """Whether all levels of a tree come from one forward."""
    return isinstance(candidate.method, Medusa)


def _drafted_lengths(candidate: Candidate) -> list[int]:
    """Which lengths to time: drafting takes a pass per token, or none at all.

    Between them the straight line is what happens.
    """
    if _drafts_at_once(candidate):
        return [levels_of(candidate.method)]
    longest = candidate.lengths[-1]
    if candidate.ranked:  # level by level, however many nodes
        longest = levels_of(candidate.method)
    elif len(candidate.lengths) == 1:
        return [longest]
    return sorted({1, 2, (longest + 1) // 2, longest})


def _table(
    grids: Sequence[Grid], timed: Sequence[Timed], pending: int, reading: float
) -> CostTable:
    cells = [
        Cost(
            batch=len(grid.prompts),
            tokens=length + pending,
            context=len(grid.prompts[0]) + grid.steps // 2,
            seconds=median(seconds),
            error=error_of_median(seconds),
        )
        for grid, one in zip(grids, timed, strict=True)
        for length, seconds in sorted(one.seconds.items())
    ]
    return CostTable(source="measured", cells=tuple(cells), reading=reading)


def reading_line(reads: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """Give what reading prompts takes each time, and per token, in seconds.

    The straight line of Theil and Sen: half of the slopes between two reads are
    steeper. One slow read, such as an engine's first, does not move it.

    :param reads: tokens and seconds of each.
    """
    tokens, seconds = zip(*reads, strict=True)
    if len(set(tokens)) > 2:
        slope, start, *_ = theilslopes(seconds, tokens, method="joint")
        if slope > 0 and start >= 0:
            return float(start), float(slope)
    return 0.0, sum(seconds) / sum(tokens)


def _for_all_trees(table: CostTable) -> CostTable:
    """Heads draft in one go: every tree takes the same time."""
    cells = [
        cell.model_copy(update={"tokens": nodes})
        for cell in table.cells
        for nodes in (1, SIZES[-1])
    ]
    return table.model_copy(update={"cells": tuple(cells)})


def _prefills(timed: Timed) -> list[StepRecord]:
    return [step for step in timed.records if step.kind == "prefill"]


def _files_sha256(artifact: Artifact, role: str) -> str | None:
    source = artifact.manifest.source.get(role)
    return sha256_json(source.files) if source else None

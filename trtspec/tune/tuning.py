"""How a tuning goes: traces, costs, a choice, and a bench that may correct it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from trtspec.bench.conditions import Conditions, record_conditions
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.fit import require_concurrency, require_runnable
from trtspec.bench.in_process import InProcess
from trtspec.bench.plan import Choices, prompt_set, read_prompts, settings_for
from trtspec.bench.progress import Silent
from trtspec.bench.result import Settings
from trtspec.bench.rundir import now
from trtspec.errors import UsageError
from trtspec.files import write_atomic
from trtspec.recipe.workload import Prompt
from trtspec.reference.prefill import group_size
from trtspec.reference.runner import ReferenceRunner
from trtspec.tune.bill import Bill
from trtspec.tune.candidate import SIZES, Candidate
from trtspec.tune.confirm_run import Confirmed, Confirming, Watching, confirm
from trtspec.tune.costs import CostTable, StepCosts
from trtspec.tune.decide import Choice, Evidence, Question, decide
from trtspec.tune.paths import RESULT, costs_file, make_directories, traces_file
from trtspec.tune.rank_tree import best_trees
from trtspec.tune.reference import ReferenceBench
from trtspec.tune.result import TuneResult
from trtspec.tune.shown import candidate_result
from trtspec.tune.sweep import predicted_sweep
from trtspec.tune.trace_file import TraceSet, read_traces, require_same, write_traces

if TYPE_CHECKING:
    from trtspec.tune.price.overhead import Overhead


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user wants tuned, and how.

    :param candidates: artifacts of one target on backend reference.
    :param choices: prompts, loads, output tokens and rounds, as for a bench.
    :param output: directory that the tuning is written to.
    :param traces: directory of an earlier tuning whose traces are taken where they fit.
    :param confirm: measure the choice in a bench.
    :param exhaustive: measure every draft length in it.
    :param price_for: a GPU whose steps are priced; then nothing is measured.
    :param host_overhead: seconds on the host per round that drafts, for that; None for
        a published figure.
    :param notes: what has to be said of the artifacts.
    """

    candidates: Sequence[Candidate]
    choices: Choices
    output: Path
    traces: Path | None = None
    confirm: bool = True
    exhaustive: bool = False
    price_for: str | None = None
    host_overhead: float | None = None
    tpot_limit: float | None = None
    hourly: float | None = None
    device: str = "cpu"
    threads: int | None = None
    command: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass
class Tuning:
    """One tuning while it runs.

    :param say: told what is done next, a line each.
    :param watching: gives who is told of the bench's blocks.
    """

    asked: Asked
    say: Callable[[str], None] = field(default=lambda line: None)
    watching: Watching = field(default=lambda requests, rounds: nullcontext(Silent()))

    def run(self) -> TuneResult:
        """Tune, and write everything to the output directory.

        :raises TrtspecError: for what can be seen to be wrong, mostly before anything
            is measured.
        """
        asked, started = self.asked, now()
        recipes = [c.artifact.recipe for c in asked.candidates]
        workload = asked.candidates[0].artifact.workload
        file, prompts = read_prompts(workload, asked.choices)
        settings = settings_for(recipes, asked.choices)
        _require_greedy(settings, recipes[0].name)
        if not asked.price_for:
            require_concurrency(recipes, settings.loads, [""] * len(prompts))
        make_directories(asked.output)
        bench = self._bench(settings)
        with bench.target() as target:
            bench.prompts = rendered(target, prompts)
            if not asked.price_for:
                require_runnable(target, bench.prompts, settings)
            conditions = record_conditions(InProcess(target).conditions())
            evidence, notes = self._evidence(bench, target)
        used = prompt_set(file, prompts, bench.prompts)
        question = Question(
            bench.batches,
            bench.batches,
            min(recipe.limits.max_batch_size for recipe in recipes),
            group_size,
        )
        choices = decide(evidence, question)
        found = [candidate_result(choice, question) for choice in choices]
        confirmed = None
        if asked.confirm and not asked.price_for:
            confirming = Confirming(
                choices[0],
                found[0],
                bench.prompts,
                used,
                settings,
                asked.exhaustive,
            )
            self.say("bench: the choice against plain decoding")
            confirmed = confirm(
                confirming, asked.output, asked.device, asked.threads, self.watching
            )
            found[0] = confirmed.candidate
        result = TuneResult(
            name=asked.output.name,
            started=started,
            command=asked.command,
            costs=evidence[0].costs.verify.source,
            hardware=asked.price_for or hardware_of(conditions),
            notes=(*asked.notes, *notes),
            tpot_limit=asked.tpot_limit,
            hourly=asked.hourly,
            output_tokens=settings.output_tokens,
            prompts=used,
            conditions=conditions,
            candidates=tuple(found),
            bill=_bill(bench, choices, confirmed, settings.repeats),
            confirmation=confirmed.confirmation if confirmed else None,
        )
        document = result.model_dump_json(indent=1, by_alias=True)
        write_atomic(asked.output / RESULT, document + "\n")
        return result

    def _bench(self, settings: Settings) -> ReferenceBench:
        asked = self.asked
        return ReferenceBench(
            asked.candidates,
            (),
            settings.output_tokens,
            sorted(load.concurrency or 1 for load in settings.loads),
            asked.device,
            asked.threads,
        )

    def _evidence(
        self, bench: ReferenceBench, target: ReferenceRunner
    ) -> tuple[list[Evidence], tuple[str, ...]]:
        """Make traces and costs; also what has to be said of the costs."""
        traced: list[tuple[Candidate, TraceSet]] = []
        drafts: list[CostTable] = []
        for candidate in self.asked.candidates:
            self.say(f"{candidate.name}: traces and drafting costs")
            with bench.opened(candidate, target) as runner:
                traces = self._traces(bench, candidate, runner)
                write_traces(traces_file(self.asked.output, candidate.name), traces)
                traced.append((candidate, traces))
                if not self.asked.price_for:
                    drafts.append(bench.draft_table(candidate, runner))
        lengths = verified_lengths(traced)
        if self.asked.price_for:
            return self._priced(traced, lengths, bench.batches, self.asked.price_for)
        self.say("verification costs")
        verify = bench.verify_table(target, lengths)
        return [
            self._kept(candidate, traces, StepCosts(verify=verify, draft=draft))
            for (candidate, traces), draft in zip(traced, drafts, strict=True)
        ], ()

    def _priced(
        self,
        traced: Sequence[tuple[Candidate, TraceSet]],
        lengths: Sequence[int],
        batches: Sequence[int],
        gpu: str,
    ) -> tuple[list[Evidence], tuple[str, ...]]:
        from trtspec.tune.price.band import doubts
        from trtspec.tune.price.prices import price_costs

        evidence, told = [], list[str]()
        for candidate, traces in traced:
            context = round(
                sum(p.prompt_tokens + p.emitted / 2 for p in traces.prompts)
                / len(traces.prompts)
            )
            priced = price_costs(
                candidate.as_deployed(),
                gpu,
                range(1, max(batches) + 1),
                lengths,
                max(context, 2),
                overhead=self._overhead(),
            )
            found = self._kept(candidate, traces, priced.costs)
            lines = [
                *priced.told(),
                *(doubt.told() for doubt in doubts(priced, found, batches)),
            ]
            told += [f"{candidate.name}: {line}" for line in lines]
            evidence.append(found)
        return evidence, tuple(dict.fromkeys(told))

    def _overhead(self) -> Overhead | None:
        from trtspec.tune.price.overhead import Overhead

        given = self.asked.host_overhead
        if given is None:
            return None
        return Overhead(round_seconds=given)

    def _kept(
        self, candidate: Candidate, traces: TraceSet, costs: StepCosts
    ) -> Evidence:
        document = costs.model_dump_json(indent=1)
        write_atomic(costs_file(self.asked.output, candidate.name), document + "\n")
        trees = best_trees(traces.prompts, SIZES) if candidate.ranked else {}
        return Evidence(candidate, traces.prompts, costs, trees)

    def _traces(
        self, bench: ReferenceBench, candidate: Candidate, runner: ReferenceRunner
    ) -> TraceSet:
        """Take a candidate's trace of before, or make it.

        :raises UsageError: if the one of before is of other models or prompts.
        """
        if self.asked.traces is None:
            return bench.trace(candidate, runner)
        path = traces_file(self.asked.traces, candidate.name)
        if not path.exists():
            self.say(f"{candidate.name}: no trace at {path}, so a new one is made")
            return bench.trace(candidate, runner)
        traces = read_traces(path)
        require_same(traces.head, bench.head(candidate, runner), str(path))
        self.say(f"{candidate.name}: trace taken from {path}")
        return traces


def rendered(
    runner: ReferenceRunner, prompts: Sequence[Prompt]
) -> tuple[BenchPrompt, ...]:
    """Put prompts through the chat template."""
    return tuple(
        BenchPrompt(p.id, p.category, tuple(p.messages), runner.encode_chat(p.messages))
        for p in prompts
    )


def verified_lengths(traced: Sequence[tuple[Candidate, TraceSet]]) -> list[int]:
    """Which numbers of draft tokens the target has to be timed with.

    All that chains draft; of trees the most nodes, and two sizes on the way there.
    """
    lengths: set[int] = set()
    for candidate, traces in traced:
        if candidate.cut_anywhere or candidate.ranked:
            lengths |= set(candidate.lengths)
            continue
        read = [max(p.verified or p.offered, default=1) for p in traces.prompts]
        most = max(read, default=1)
        lengths |= {max(1, most // 3), max(1, 2 * most // 3), max(1, most)}
    return sorted(lengths)


def hardware_of(conditions: Conditions) -> str:
    """Name what the times hold for."""
    device = str(conditions.runner.get("device_name") or "cpu")
    return conditions.hardware.cpu if device.startswith("cpu") else device


def _bill(
    bench: ReferenceBench,
    choices: Sequence[Choice],
    confirmed: Confirmed | None,
    rounds: int,
) -> Bill:
    items = (bench.traces.item, bench.costs.item)
    if confirmed is None:
        return Bill(items=items, sweep=predicted_sweep(choices), swept=False)
    swept = confirmed.confirmation.exhaustive
    sweep = confirmed.item.shared(rounds) if swept else predicted_sweep(choices)
    return Bill(items=(*items, confirmed.item), sweep=sweep, swept=swept)


def _require_greedy(settings: Settings, where: str) -> None:
    if settings.greedy:
        return
    raise UsageError(
        f"temperature {settings.temperature:g}",
        where=where,
        allowed="temperature 0: what a trace holds for",
        action="tune a copy of the recipe with temperature 0, and measure its lengths "
        "as they are: trtspec bench --draft-length",
    )

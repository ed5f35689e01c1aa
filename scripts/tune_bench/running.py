"""How the tuner and the sweep are run: one trace and one cost table for all."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from trtspec.bench.conditions import Conditions, record_conditions
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.in_process import InProcess
from trtspec.bench.plan import Choices, ladder, prompt_set, settings_for
from trtspec.bench.progress import Lines, Watcher
from trtspec.bench.result import BenchResult, PromptSet
from trtspec.build.progress import SILENT
from trtspec.cli.artifact import open_or_build
from trtspec.files import write_atomic
from trtspec.recipe import load_prompts
from trtspec.recipe.workload import Prompt
from trtspec.reference.prefill import group_size
from trtspec.tune.bill import Bill, Item
from trtspec.tune.candidate import Candidate, candidate_of
from trtspec.tune.confirm_arms import Confirming, reference_arms
from trtspec.tune.confirm_run import Confirmed, confirm
from trtspec.tune.costs import StepCosts
from trtspec.tune.decide import Choice, Evidence, Question, decide
from trtspec.tune.gather import verified_lengths
from trtspec.tune.paths import RESULT
from trtspec.tune.reference import ReferenceBench
from trtspec.tune.result import TuneResult
from trtspec.tune.shown import candidate_result
from trtspec.tune.tuning import hardware_of, rendered

ROOT = Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "recipes/workloads"
Log = Callable[[str], None]


@dataclass(frozen=True)
class Setup:
    """What is measured."""

    recipe: str
    workloads: tuple[str, ...]
    limit: int
    output_tokens: int
    loads: tuple[int, ...]
    lengths: tuple[int, ...]
    repeats: int
    threads: int | None
    output: Path

    @property
    def recipe_file(self) -> Path:
        """The recipe that is tuned."""
        return ROOT / "recipes/smollm2-135m" / f"{self.recipe}.yaml"

    def files(self) -> list[Path]:
        """The workloads' files."""
        return [
            path
            for path in sorted(WORKLOADS.glob("*.jsonl"))
            if not self.workloads or path.stem in self.workloads
        ]


@dataclass(frozen=True)
class Planned:
    """What the tuner found.

    :param choices: by workload.
    :param prompts: by workload, as the file has them and as the model sees them.
    :param items: what it took.
    """

    candidate: Candidate
    choices: dict[str, Choice]
    prompts: dict[str, tuple[list[Prompt], tuple[BenchPrompt, ...]]]
    items: tuple[Item, ...]
    conditions: Conditions

    @property
    def model_seconds(self) -> float:
        """Inside engine steps that the choices took."""
        return sum(item.model_seconds for item in self.items)


class Swept(NamedTuple):
    """A workload with every draft length.

    :ivar tuning: the same as a tuning of this workload.
    :ivar model_seconds: inside engine steps, all rounds.
    """

    result: BenchResult
    tuning: TuneResult
    model_seconds: float


def planned(setup: Setup, log: Log) -> Planned:
    """Trace all workloads in one go, measure the costs once, choose for each."""
    artifact = open_or_build(setup.recipe_file, str(ROOT / "engines"), SILENT)
    candidate = replace(
        candidate_of(artifact, setup.recipe, max(setup.lengths)), lengths=setup.lengths
    )
    files = setup.files()
    prompts = {f.stem: list(load_prompts(f, "")[: setup.limit]) for f in files}
    bench = ReferenceBench(
        [candidate], (), setup.output_tokens, setup.loads, threads=setup.threads
    )
    with bench.target() as target:
        seen = {name: rendered(target, own) for name, own in prompts.items()}
        bench.prompts = [prompt for own in seen.values() for prompt in own]
        conditions = record_conditions(InProcess(target).conditions())
        with bench.opened(candidate, target) as runner:
            log("traces")
            traces = bench.trace(candidate, runner)
            log("drafting costs")
            draft = bench.draft_table(candidate, runner)
        log("verification costs")
        verify = bench.verify_table(target, verified_lengths([(candidate, traces)]))
    costs = StepCosts(verify=verify, draft=draft)
    question = Question(setup.loads, setup.loads, max(setup.loads), group_size)
    by_id = {trace.prompt_id: trace for trace in traces.prompts}
    choices = {}
    for name, own in seen.items():
        evidence = Evidence(candidate, [by_id[p.id] for p in own], costs)
        (choices[name],) = decide([evidence], question)
    return Planned(
        candidate,
        choices,
        {name: (own, seen[name]) for name, own in prompts.items()},
        (bench.traces.item, bench.costs.item),
        conditions,
    )


def _same(
    watcher: AbstractContextManager[Watcher], requests: int, rounds: int
) -> AbstractContextManager[Watcher]:
    return watcher


def measured_sweeps(setup: Setup, plan: Planned, log: Log) -> dict[str, Swept]:
    """Run every draft length on every workload, interleaved with plain decoding."""
    found = {}
    for file in setup.files():
        log(f"sweep: {file.stem}")
        prompts, seen = plan.prompts[file.stem]
        choices = Choices(
            output_tokens=setup.output_tokens,
            loads=ladder(setup.loads),
            repeats=setup.repeats,
            control=False,
        )
        choice = plan.choices[file.stem]
        used = prompt_set(file, prompts, seen)
        confirming = Confirming(
            choice,
            candidate_result(choice, choice.question),
            seen,
            used,
            settings_for([plan.candidate.artifact.recipe], choices),
            exhaustive=True,
        )
        lines = nullcontext(Lines(log, setup.repeats))
        output = setup.output / file.stem
        opening = partial(reference_arms, device="cpu", threads=setup.threads)
        done = confirm(confirming, output, opening, partial(_same, lines))
        times = [
            part.seconds
            for block in done.run.raw.blocks
            if not block.warm_up and block.arm != "tuned"
            for part in (block.prefill, block.decode)
            if part is not None
        ]
        tuning = _tuning(setup, plan, used, done)
        document = tuning.model_dump_json(indent=1, by_alias=True)
        write_atomic(output / RESULT, document + "\n")
        found[file.stem] = Swept(done.run.result, tuning, sum(times))
    return found


def _tuning(
    setup: Setup, plan: Planned, used: PromptSet, done: Confirmed
) -> TuneResult:
    return TuneResult(
        name=used.file,
        started=done.run.result.plan.started,
        costs="measured",
        hardware=hardware_of(plan.conditions),
        output_tokens=setup.output_tokens,
        prompts=used,
        conditions=plan.conditions,
        candidates=(done.candidate,),
        bill=Bill(
            items=(*plan.items, done.item),
            sweep=done.item.shared(setup.repeats),
            swept=True,
        ),
        confirmation=done.confirmation,
    )

"""How a tuning goes: traces, costs, a choice, and a bench that may correct it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from trtspec.bench.arms import Arm
from trtspec.bench.conditions import Conditions, record_conditions
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.fit import require_concurrency, require_runnable
from trtspec.bench.in_process import InProcess
from trtspec.bench.plan import Choices, prompt_set, read_prompts, settings_for
from trtspec.bench.progress import Silent
from trtspec.bench.result import Settings
from trtspec.bench.rundir import now
from trtspec.build.artifact import Artifact
from trtspec.errors import Problem, UsageError
from trtspec.files import write_atomic
from trtspec.recipe.workload import Prompt
from trtspec.reference.prefill import group_size
from trtspec.reference.runner import ReferenceRunner
from trtspec.run import SamplingParams
from trtspec.run.tokens import TextCodec
from trtspec.tune.bill import Bill, Meter
from trtspec.tune.candidate import Candidate
from trtspec.tune.confirm_arms import (
    Confirming,
    methods_to_measure,
    reference_arms,
)
from trtspec.tune.confirm_run import Confirmed, Watching, confirm
from trtspec.tune.decide import Choice, Evidence, Question, decide
from trtspec.tune.deployed.arms import deployed_arms
from trtspec.tune.deployed.gather import DeployedGatherer, settings_of
from trtspec.tune.deployed.possible import possible_choices
from trtspec.tune.deployed.shop import Counting, Shop
from trtspec.tune.deployed.words import HOW_TIMED, acceptance_notes, untraced_note
from trtspec.tune.gather import Gatherer, Pricing
from trtspec.tune.paths import RESULT, make_directories
from trtspec.tune.reference import ReferenceBench
from trtspec.tune.replay import GroupSize
from trtspec.tune.result import TuneResult
from trtspec.tune.shown import candidate_result
from trtspec.tune.sweep import predicted_sweep


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user wants tuned, and how.

    :param candidates: artifacts of one target on backend reference.
    :param choices: prompts, loads, output tokens and rounds, as for a bench.
    :param output: directory that the tuning is written to.
    :param traces: directory of an earlier tuning whose traces are taken where they fit.
    :param confirm: measure the choice in a bench.
    :param exhaustive: measure every draft length in it.
    :param pricing: prices steps in place of measuring them; then no bench is run.
    :param shops: of candidates of another backend, by name: who builds and loads what
        is timed and confirmed there. Empty: all is measured on backend reference.
    :param notes: what has to be said of the artifacts.
    """

    candidates: Sequence[Candidate]
    choices: Choices
    output: Path
    traces: Path | None = None
    confirm: bool = True
    exhaustive: bool = False
    pricing: Pricing | None = None
    shops: Mapping[str, Shop] = field(default_factory=dict)
    tpot_limit: float | None = None
    hourly: float | None = None
    device: str = "cpu"
    threads: int | None = None
    command: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Found(NamedTuple):
    """What the choice is made from.

    :ivar notes: what has to be said of it.
    :ivar group_size: how the engine reads prompts together.
    """

    evidence: Sequence[Evidence]
    notes: tuple[str, ...]
    conditions: Conditions
    group_size: GroupSize = len


@dataclass
class Tuning:
    """One tuning while it runs.

    :param say: told what is done next, a line each.
    :param watching: gives who is told of the bench's blocks.
    :param loaded: counts what a bench on another backend loads.
    """

    asked: Asked
    say: Callable[[str], None] = field(default=lambda line: None)
    watching: Watching = field(default=lambda requests, rounds: nullcontext(Silent()))
    loaded: Meter = field(default_factory=lambda: Meter("confirmation"))

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
        _require_chains(asked.candidates, settings)
        if asked.pricing is None:
            require_concurrency(recipes, settings.loads, [""] * len(prompts))
        make_directories(asked.output)
        bench = self._bench(settings)
        found = self._gathered(bench, prompts, settings)
        used = prompt_set(file, prompts, bench.prompts)
        slots = min(recipe.limits.max_batch_size for recipe in recipes)
        question = Question(bench.batches, bench.batches, slots, found.group_size)
        choices = decide(found.evidence, question)
        if asked.shops:
            choices, notes = possible_choices(choices, asked.shops)
            found = found._replace(notes=(*found.notes, *notes))
        results = [candidate_result(choice, question) for choice in choices]
        confirmed = None
        if asked.confirm and asked.pricing is None:
            self.say("bench: the choice against plain decoding")
            of = Confirming(
                choices[0], results[0], bench.prompts, used, settings, asked.exhaustive
            )
            confirmed = self._confirmed(of)
            results[0] = confirmed.candidate
        result = TuneResult(
            name=asked.output.name,
            started=started,
            command=asked.command,
            costs=found.evidence[0].costs.verify.source,
            hardware=self._hardware(found.conditions),
            notes=(
                *asked.notes,
                *found.notes,
                *(acceptance_notes(confirmed) if asked.shops else ()),
            ),
            tpot_limit=asked.tpot_limit,
            hourly=asked.hourly,
            output_tokens=settings.output_tokens,
            prompts=used,
            conditions=found.conditions,
            candidates=tuple(results),
            bill=_bill(bench, choices, confirmed, settings.repeats),
            confirmation=confirmed.confirmation if confirmed else None,
        )
        document = result.model_dump_json(indent=1, by_alias=True)
        write_atomic(asked.output / RESULT, document + "\n")
        return result

    def _gathered(
        self, bench: ReferenceBench, prompts: Sequence[Prompt], settings: Settings
    ) -> Found:
        """Get traces and costs, of whatever backend is asked for."""
        asked = self.asked
        gatherer = Gatherer(bench, asked.output, asked.traces, asked.pricing, self.say)
        deployed = DeployedGatherer(gatherer, asked.shops, bench.costs)
        if any(candidate.no_twin for candidate in asked.candidates):
            bench.prompts = _rendered(asked.candidates[0].artifact, prompts)
            untraced = [(candidate, None) for candidate in asked.candidates]
            evidence, said = deployed.time(untraced)
            notes = tuple(map(untraced_note, asked.candidates))
            return Found(evidence, notes, record_conditions(said))
        with bench.target() as target:
            bench.prompts = rendered(target, prompts)
            if asked.pricing is None:
                require_runnable(target, bench.prompts, settings)
            conditions = record_conditions(InProcess(target).conditions())
            if not asked.shops:
                evidence, notes = gatherer.gather(target)
                return Found(evidence, notes, conditions, group_size)
            traced = deployed.trace(target)
        evidence, said = deployed.time(traced)  # the target is gone: room for engines
        return Found(evidence, (HOW_TIMED,), record_conditions(said))

    def _confirmed(self, of: Confirming) -> Confirmed:
        done = confirm(of, self.asked.output, self._opening, self.watching)
        if not self.asked.shops:
            return done
        starts = {"engine_starts": self.loaded.item.engine_starts}
        return done._replace(item=done.item.model_copy(update=starts))

    def _opening(self, of: Confirming) -> AbstractContextManager[list[Arm]]:
        candidate, asked = of.choice.evidence.candidate, self.asked
        if not asked.shops:
            return reference_arms(of, asked.device, asked.threads)
        return deployed_arms(
            settings_of(candidate),
            methods_to_measure(of),
            Counting(asked.shops[candidate.name], self.loaded.started),
            of.prompts,
            control=of.settings.control,
        )

    def _hardware(self, conditions: Conditions) -> str:
        pricing = self.asked.pricing
        return pricing.gpu if pricing else hardware_of(conditions)

    def _bench(self, settings: Settings) -> ReferenceBench:
        asked = self.asked
        return ReferenceBench(
            asked.candidates,
            (),
            settings.output_tokens,
            sorted(load.concurrency or 1 for load in settings.loads),
            SamplingParams(
                settings.temperature, settings.top_k, settings.top_p, settings.seed
            ),
            asked.device,
            asked.threads,
        )


def rendered(
    runner: ReferenceRunner, prompts: Sequence[Prompt]
) -> tuple[BenchPrompt, ...]:
    """Put prompts through the chat template."""
    return tuple(
        BenchPrompt(p.id, p.category, tuple(p.messages), runner.encode_chat(p.messages))
        for p in prompts
    )


def _rendered(artifact: Artifact, prompts: Sequence[Prompt]) -> tuple[BenchPrompt, ...]:
    """Put prompts through the chat template of an artifact that is not loaded."""
    codec = TextCodec(artifact.tokenizer, artifact.chat_template)
    return tuple(
        BenchPrompt(p.id, p.category, tuple(p.messages), codec.encode_chat(p.messages))
        for p in prompts
    )


def hardware_of(conditions: Conditions) -> str:
    """Name what the times hold for."""
    gpus = conditions.hardware.gpus
    if gpus and conditions.runner.get("backend") not in (None, "reference"):
        return ", ".join(dict.fromkeys(gpu.name for gpu in gpus))
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


def _require_chains(candidates: Sequence[Candidate], settings: Settings) -> None:
    """Refuse what cannot be traced where tokens are sampled.

    :raises UsageError: naming each such candidate.
    """
    problems = [
        Problem(
            f"temperature {settings.temperature:g}, and a draft that is no chain",
            candidate.name,
            "a chain of draft tokens; or temperature 0",
            "tune a copy of the recipe with temperature 0, or measure it as it is: "
            "trtspec bench",
        )
        for candidate in candidates
        if not settings.greedy and not candidate.cut_anywhere
    ]
    if problems:
        raise UsageError.from_problems(problems)

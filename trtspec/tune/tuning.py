"""How a tuning goes: traces, costs, a choice, and a bench that may correct it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from trtspec.bench.conditions import Conditions, record_conditions
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.fit import require_concurrency, require_runnable
from trtspec.bench.in_process import InProcess
from trtspec.bench.plan import Choices, prompt_set, read_prompts, settings_for
from trtspec.bench.progress import Silent
from trtspec.bench.result import Settings
from trtspec.bench.rundir import now
from trtspec.errors import Problem, UsageError
from trtspec.files import write_atomic
from trtspec.recipe.workload import Prompt
from trtspec.reference.prefill import group_size
from trtspec.reference.runner import ReferenceRunner
from trtspec.run import SamplingParams
from trtspec.tune.bill import Bill
from trtspec.tune.candidate import Candidate
from trtspec.tune.confirm_run import Confirmed, Confirming, Watching, confirm
from trtspec.tune.decide import Choice, Question, decide
from trtspec.tune.gather import Gatherer, Pricing
from trtspec.tune.paths import RESULT, make_directories
from trtspec.tune.reference import ReferenceBench
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
    :param notes: what has to be said of the artifacts.
    """

    candidates: Sequence[Candidate]
    choices: Choices
    output: Path
    traces: Path | None = None
    confirm: bool = True
    exhaustive: bool = False
    pricing: Pricing | None = None
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
        _require_chains(asked.candidates, settings)
        if asked.pricing is None:
            require_concurrency(recipes, settings.loads, [""] * len(prompts))
        make_directories(asked.output)
        bench = self._bench(settings)
        gatherer = Gatherer(bench, asked.output, asked.traces, asked.pricing, self.say)
        with bench.target() as target:
            bench.prompts = rendered(target, prompts)
            if asked.pricing is None:
                require_runnable(target, bench.prompts, settings)
            conditions = record_conditions(InProcess(target).conditions())
            evidence, notes = gatherer.gather(target)
        used = prompt_set(file, prompts, bench.prompts)
        slots = min(recipe.limits.max_batch_size for recipe in recipes)
        question = Question(bench.batches, bench.batches, slots, group_size)
        choices = decide(evidence, question)
        found = [candidate_result(choice, question) for choice in choices]
        confirmed = None
        if asked.confirm and asked.pricing is None:
            self.say("bench: the choice against plain decoding")
            confirmed = confirm(
                Confirming(
                    choices[0],
                    found[0],
                    bench.prompts,
                    used,
                    settings,
                    asked.exhaustive,
                ),
                asked.output,
                asked.device,
                asked.threads,
                self.watching,
            )
            found[0] = confirmed.candidate
        result = TuneResult(
            name=asked.output.name,
            started=started,
            command=asked.command,
            costs=evidence[0].costs.verify.source,
            hardware=asked.pricing.gpu if asked.pricing else hardware_of(conditions),
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

"""From the arguments of ``trtspec bench`` to a run: everything is looked at first."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trtspec.bench.arms import Arm
from trtspec.bench.candidates import (
    Engine,
    arms_of,
    baseline_of,
    require_same_prompts,
    require_same_target,
)
from trtspec.bench.comparable import require_same_run
from trtspec.bench.conditions import record_conditions
from trtspec.bench.conversations import with_history
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.fit import require_concurrency, require_runnable
from trtspec.bench.http.address import shown
from trtspec.bench.in_process import InProcess
from trtspec.bench.measure import Session, measure, requests_of
from trtspec.bench.paths import require_rereadable, require_writable, run_directory
from trtspec.bench.plan import Choices, prompt_set, read_prompts, settings_for
from trtspec.bench.records import Load
from trtspec.bench.result import Plan
from trtspec.bench.rundir import (
    PLAN,
    BenchRun,
    RunDirectory,
    load_run,
    now,
    require_no_run,
    run_name,
)
from trtspec.cli.bench_options import ARRIVALS
from trtspec.errors import Problem, UsageError
from trtspec.forced_acceptance import SGLANG, TENSORRT_LLM, refuse_forced_acceptance
from trtspec.recipe import load_prompts, load_recipe
from trtspec.recipe.schema import Recipe
from trtspec.recipe.workload import Prompt

if TYPE_CHECKING:
    from trtspec.build.artifact import Artifact
    from trtspec.run import Runner

RUNS = Path("runs")


@dataclass(frozen=True, slots=True)
class Opened:
    """Everything that a run needs, loaded."""

    arms: list[Arm]
    plan: Plan


def start_run(asked: Mapping[str, Any], arguments: tuple[str, ...]) -> BenchRun:
    """Begin a run.

    :param asked: the command's parameters, by name.
    :param arguments: the command's arguments as they were given.
    :raises TrtspecError: for anything that can be seen to be wrong before measuring.
    """
    output = run_directory(asked["output"]) if asked["output"] else None
    if output:
        require_no_run(output)
    require_writable((output or RUNS / run_name("")) / PLAN)
    _require_text(arguments)
    with _opened(asked) as opened:
        command = tuple(shown(word) for word in arguments)  # without credentials
        plan = opened.plan.model_copy(update={"command": command})
        directory = RunDirectory.create(output or _new_run(plan.name), plan)
        return _measured(directory, opened.arms)


def resume_run(path: Path) -> BenchRun:
    """Go on with a run as it was begun; one that is complete is given as it is.

    :raises UsageError: if there is no run, or what it measured, or the conditions, are
        not what they were.
    """
    directory = RunDirectory.reopen(path)
    if directory.complete:
        ended = load_run(path).result.finished
        return directory.finish(partial=False, finished=ended)
    plan = directory.plan
    with _opened(_asked_again(plan)) as opened:
        require_same_run(plan, opened.plan)
        return _measured(directory, opened.arms)


def _require_text(arguments: tuple[str, ...]) -> None:
    """Refuse arguments that the run's record could not hold, such as some file names.

    :raises UsageError: naming the first.
    """
    for word in arguments:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise UsageError(
                f"{word!r} has bytes that are no UTF-8",
                action="rename the file: a run records how it was begun",
            ) from None


def _new_run(name: str) -> Path:
    """Give a directory that is not there yet; several may begin in one second."""
    first = RUNS / run_name(name)
    places = chain([first], (first.with_name(f"{first.name}-{n}") for n in count(2)))
    return next(place for place in places if not place.exists())


def _asked_again(plan: Plan) -> Mapping[str, Any]:
    """Read the arguments that began a run once more."""
    from trtspec.cli.bench import command

    return command.make_context("bench", list(plan.command)).params


def _measured(directory: RunDirectory, arms: Sequence[Arm]) -> BenchRun:
    from rich.console import Console
    from rich.text import Text

    from trtspec.bench.progress import Both, Lines, watching

    settings = directory.plan.settings
    console = Console(file=sys.stderr)
    try:
        with watching(
            console, requests_of(settings, arms), settings.repeats
        ) as watcher:
            both = Both(watcher, Lines(directory.note, settings.repeats))
            return measure(Session(directory, arms, both))
    except BaseException:
        kept = (
            f"what was measured is kept; go on: trtspec bench --resume {directory.path}"
        )
        console.print(Text(kept), soft_wrap=True)
        raise


@contextmanager
def _opened(asked: Mapping[str, Any]) -> Iterator[Opened]:
    """Load what is measured; it is freed at the end."""
    if not asked["forced"]:
        consequence = "no speed-up measured with it is one"
        refuse_forced_acceptance(os.environ, (TENSORRT_LLM, SGLANG), consequence)
    if asked["prompts"]:
        require_rereadable(asked["prompts"])
        load_prompts(asked["prompts"], "--prompts")
    if bool(asked["artifacts"]) == bool(asked["addresses"]):
        raise UsageError(
            "artifacts and --url" if asked["addresses"] else "nothing to measure",
            allowed="either artifacts or recipes, or --url",
            action="see trtspec bench --help",
        )
    _require_effect(asked)
    if asked["addresses"]:
        from trtspec.cli.bench_servers import open_servers

        with open_servers(asked, choices_of(asked)) as (arms, plan):
            yield Opened(arms, plan)
        return
    with ExitStack() as stack:
        yield _open_artifacts(asked, stack)


def _require_effect(asked: Mapping[str, Any]) -> None:
    """Refuse options that would be ignored: who gave them expects something of them.

    :raises UsageError: listing them.
    """
    problems = []
    here = not asked["addresses"]
    for option, given in (
        ("--model", asked["model"] is not None),
        ("--api", asked["api"] != "chat"),
    ):
        if here and given:
            problems.append(
                Problem(
                    "it is for servers, and there is no --url",
                    option,
                    action=f"leave {option} out, or name a server with --url",
                )
            )
    if asked["arrivals"] != ARRIVALS[0] and not asked["rates"]:
        problems.append(
            Problem(
                f"{asked['arrivals']} has no effect without --rate",
                "--arrivals",
                action="say with --rate how many requests per second",
            )
        )
    if problems:
        raise UsageError.from_problems(problems)


def choices_of(asked: Mapping[str, Any]) -> Choices:
    """Take what the user chose."""
    loads = [
        *(Load(concurrency=c) for c in asked["concurrency"]),
        *(Load(arrivals=asked["arrivals"], rate=rate) for rate in asked["rates"]),
    ]
    return Choices(
        prompts=asked["prompts"],
        limit=asked["limit"],
        output_tokens=asked["output_tokens"],
        loads=tuple(loads) or None,
        repeats=asked["repeats"],
        draft_lengths=asked["draft_lengths"],
        control=asked["control"],
        fixed_length=asked["fixed_length"],
        goodput=asked["goodput_limits"],
        by_category=asked["by_category"],
        turns=asked["turns"],
    )


def _open_artifacts(asked: Mapping[str, Any], stack: ExitStack) -> Opened:
    choices = choices_of(asked)
    _require_comparable(asked["artifacts"])
    artifacts = _artifacts(asked["artifacts"], asked["engines"])
    recipes = [artifact.recipe for artifact in artifacts]
    _require_arms(recipes)
    file, prompts = read_prompts(artifacts[0].workload, choices)
    categories = [prompt.category for prompt in prompts]
    settings = settings_for(recipes, choices, categories)
    require_concurrency(recipes, settings.loads, categories)
    # only now torch: everything that can be wrong without it was looked at
    runners = _runners(artifacts, asked, stack)
    off = runners[baseline_of(recipes)]
    whole = with_history(
        prompts, InProcess(off), partial(_rendered, off), settings.output_tokens
    )
    engines = [
        Engine(artifact, InProcess(runner), _rendered(runner, whole))
        for artifact, runner in zip(artifacts, runners, strict=True)
    ]
    require_same_prompts(engines)
    for runner in runners:
        require_runnable(runner, engines[0].prompts, settings)
    arms = arms_of(engines, choices.draft_lengths, control=choices.control)
    cached = any(runner.caches_prompts for runner in runners)
    plan = Plan(
        name=_name(recipes),
        started=now(),
        arms=tuple(arm.info for arm in arms),
        prompts=prompt_set(file, whole, engines[0].prompts, choices.turns),
        settings=settings.model_copy(update={"prompts_cached": cached}),
        conditions=record_conditions(engines[0].driver.conditions()),
    )
    return Opened(arms, plan)


def _name(recipes: Sequence[Recipe]) -> str:
    """Name a run by its first recipe that speculates, and how many more there are."""
    names = [r.name for r in recipes if r.speculation.method != "none"]
    return names[0] if len(names) == 1 else f"{names[0]}-and-{len(names) - 1}-more"


def _require_comparable(paths: Sequence[Path]) -> None:
    """Refuse what can be seen to be wrong before anything is built.

    Beside an artifact that is built already, a recipe is looked at once it is built.
    """
    if len(paths) > 1 and not any(path.is_dir() for path in paths):
        _require_arms([load_recipe(path).recipe for path in paths])


def _require_arms(recipes: Sequence[Recipe]) -> None:
    baseline_of(recipes)
    require_same_target(recipes)


def _artifacts(paths: Sequence[Path], engines: str) -> list[Artifact]:
    """Open the artifacts, or build the recipes'."""
    from trtspec.cli.artifact import open_or_build, terminal_progress
    from trtspec.cli.common import backend_for

    progress = terminal_progress(err=True, news_only=True)
    found: list[Artifact] = []
    for path in paths:
        if not path.is_dir() and len(paths) == 1:
            loaded = load_recipe(path)
            _require_one(loaded.recipe, loaded.where("speculation", "method"))
        artifact = open_or_build(path, engines, progress)
        backend_for(artifact.recipe)
        found.append(artifact)
    return found


def _require_one(recipe: Recipe, where: str) -> None:
    """Refuse a single recipe without two arms, naming its line."""
    try:
        baseline_of([recipe])
    except UsageError as error:
        first = error.problems[0]
        raise UsageError(
            first.what, where=where, allowed=first.allowed, action=first.action
        ) from None


def _runners(
    artifacts: Sequence[Artifact], asked: Mapping[str, Any], stack: ExitStack
) -> list[Runner]:
    """Load every artifact; one that is named twice is loaded once."""
    from trtspec.cli.runners import runner_for

    loaded: dict[str, Runner] = {}
    first: tuple[Artifact, Runner] | None = None
    for artifact in artifacts:
        if artifact.fingerprint in loaded:
            raise UsageError(
                f"{artifact.name} is named twice",
                where=str(artifact.path),
                action="leave one out: off is run twice a round anyway",
            )
        runner = runner_for(
            artifact, device=asked["device"], threads=asked["threads"], beside=first
        )
        stack.callback(runner.close)
        loaded[artifact.fingerprint] = runner
        first = first or (artifact, runner)
    return list(loaded.values())


def _rendered(runner: Runner, prompts: Sequence[Prompt]) -> tuple[BenchPrompt, ...]:
    return tuple(
        BenchPrompt(p.id, p.category, tuple(p.messages), runner.encode_chat(p.messages))
        for p in prompts
    )

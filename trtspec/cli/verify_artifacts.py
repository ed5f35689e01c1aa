"""From artifacts or recipes to what ``trtspec verify`` looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trtspec.bench.arms import OFF, ON, ArmInfo
from trtspec.bench.candidates import (
    Engine,
    arms_of,
    can_be_off,
    require_same_prompts,
    require_same_target,
)
from trtspec.bench.conditions import record_conditions
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.fit import require_runnable
from trtspec.bench.in_process import InProcess
from trtspec.bench.plan import Choices, ladder, prompt_set, read_prompts, settings_for
from trtspec.cli.verify_oracle import Judged, other_model, own_model
from trtspec.cli.verify_subject import (
    PROMPTS,
    QUICK_PROMPTS,
    QUICK_TOKENS,
    SAMPLED_TOKENS,
    TOKENS,
    Subject,
)
from trtspec.errors import UsageError
from trtspec.recipe import load_recipe
from trtspec.recipe.schema import Recipe
from trtspec.recipe.workload import Prompt
from trtspec.verify.arm import Arm, Question
from trtspec.verify.arms.in_process import ALTERNATIVES, RunnerArm
from trtspec.verify.canary.in_process import RunnerTalker
from trtspec.verify.greedy.gaps import Scorer
from trtspec.verify.greedy.tolerance import DTYPES, Dtype

if TYPE_CHECKING:
    from trtspec.build.artifact import Artifact
    from trtspec.run import Runner

_ONE = "one artifact or recipe that speculates, alone or beside one with method none"
_FOR_SERVERS = {
    "model": "--model",
    "dtype": "--dtype",
    "config": "--config",
    "pid": "--pid",
}


@contextmanager
def open_artifacts(asked: Mapping[str, Any]) -> Iterator[Subject]:
    """Build what is a recipe, load everything, and free it at the end.

    :raises UsageError: for what can be seen to be wrong in the arguments.
    """
    for name, option in _FOR_SERVERS.items():
        if asked[name]:
            raise UsageError(
                "an artifact knows that itself", where=option, action="leave it out"
            )
    paths: Sequence[Path] = asked["artifacts"]
    if not any(path.is_dir() for path in paths):
        find_pair([load_recipe(path).recipe for path in paths])
    with ExitStack() as stack:
        yield _loaded(asked, _opened(paths, asked["engines"]), stack)


def find_pair(recipes: Sequence[Recipe]) -> tuple[int, int]:
    """Say which is the off arm and which speculates; it may be the same one.

    :raises UsageError: if that is not to be had.
    """
    on = [i for i, r in enumerate(recipes) if r.speculation.method != "none"]
    off = [i for i, r in enumerate(recipes) if r.speculation.method == "none"]
    if len(on) != 1 or len(off) > 1:
        raise UsageError(
            f"{len(on)} that speculate and {len(off)} with method none",
            where=", ".join(recipe.name for recipe in recipes),
            allowed=_ONE,
        )
    require_same_target(recipes)
    recipe = recipes[on[0]]
    if not off and not can_be_off(recipe):
        raise UsageError(
            f"an artifact for {recipe.speculation.method} on backend {recipe.backend} "
            "cannot decode without drafting, so it has no off arm",
            where=recipe.name,
            allowed=_ONE,
            action="build the same recipe with method: none and name both",
        )
    return (off or on)[0], on[0]


def _opened(paths: Sequence[Path], engines: str) -> list[Artifact]:
    from trtspec.cli.artifact import open_or_build, terminal_progress
    from trtspec.cli.common import backend_for

    progress = terminal_progress(err=True, news_only=True)
    found = []
    for path in paths:
        artifact = open_or_build(path, engines, progress)
        backend_for(artifact.recipe)
        found.append(artifact)
    return found


def _loaded(
    asked: Mapping[str, Any], artifacts: Sequence[Artifact], stack: ExitStack
) -> Subject:
    recipes = [artifact.recipe for artifact in artifacts]
    off_index, on_index = find_pair(recipes)
    off, on = artifacts[off_index], artifacts[on_index]
    quick = asked["quick"]
    tokens = asked["output_tokens"] or (QUICK_TOKENS if quick else TOKENS)
    choices = Choices(
        prompts=asked["prompts"],
        limit=asked["limit"] or (QUICK_PROMPTS if quick else PROMPTS),
        output_tokens=tokens,
        loads=ladder((1,)),
    )
    file, prompts = read_prompts(on.workload or off.workload, choices)
    settings = settings_for([on.recipe], choices)
    runners = _runners({off.fingerprint: off, on.fingerprint: on}, asked, stack)
    off_runner, on_runner = runners[off.fingerprint], runners[on.fingerprint]
    pairs = [(off, off_runner), (on, on_runner)]
    engines = [
        Engine(artifact, InProcess(runner), _rendered(runner, prompts))
        for artifact, runner in (pairs if off is not on else pairs[1:])
    ]
    require_same_prompts(engines)
    for engine in engines:
        require_runnable(runners[engine.artifact.fingerprint], engine.prompts, settings)
    questions = tuple(
        Question(prompt.id, prompt.tokens or (), tokens)
        for prompt in engines[0].prompts
    )
    oracle, why = _oracle(on, off_runner, asked)
    dtype, dtype_from = _dtype(on.recipe)
    return Subject(
        name=on.name,
        off=RunnerArm(OFF, off_runner, speculate=False),
        on=RunnerArm(ON, on_runner, speculate=True),
        arms=_infos(engines),
        questions=questions,
        prompts=prompt_set(file, prompts, engines[0].prompts),
        conditions=record_conditions(InProcess(on_runner).conditions()),
        dtype=dtype,
        dtype_from=dtype_from,
        most_at_once=min(off_runner.max_running, on_runner.max_running),
        width=on.recipe.speculation.longest_draft + 1,
        scorer=_scorer(off_runner, on.recipe),
        oracle=oracle,
        why_no_oracle=why,
        telling=_telling(on.recipe, off_runner, on_runner),
        longest=_longest(off_runner, on_runner),
        artifact=on,
        talker=RunnerTalker(on_runner),
        always_drafts=on.recipe.speculation.always_drafts,
        runner=on_runner,
        control=_control(on_runner, on.recipe),
    )


def _runners(
    artifacts: Mapping[str, Artifact], asked: Mapping[str, Any], stack: ExitStack
) -> dict[str, Runner]:
    from trtspec.cli.runners import runner_for

    loaded: dict[str, Runner] = {}
    first: tuple[Artifact, Runner] | None = None
    for fingerprint, artifact in artifacts.items():
        runner = runner_for(
            artifact, device=asked["device"], threads=asked["threads"], beside=first
        )
        stack.callback(runner.close)
        loaded[fingerprint] = runner
        first = first or (artifact, runner)
    return loaded


def _rendered(runner: Runner, prompts: Sequence[Prompt]) -> tuple[BenchPrompt, ...]:
    return tuple(
        BenchPrompt(p.id, p.category, tuple(p.messages), runner.encode_chat(p.messages))
        for p in prompts
    )


def _longest(*runners: Runner) -> int:
    """Give the longest text that leaves room for a few sampled tokens."""
    return min(
        min(one.max_input_tokens, one.max_total_tokens - SAMPLED_TOKENS)
        for one in runners
    )


def _dtype(recipe: Recipe) -> tuple[Dtype, str]:
    told = recipe.target.dtype
    if told in DTYPES:
        return told, "of the artifact"
    return "bfloat16", f"assumed: the artifact says {told}"


def _scorer(runner: Runner, recipe: Recipe) -> Scorer | None:
    """Give what scores the off arm: its own slots, on the reference backend."""
    if recipe.backend != "reference":
        return None
    from trtspec.reference.runner import ReferenceRunner
    from trtspec.reference.scoring import Scorer as OfReference

    return OfReference(runner) if isinstance(runner, ReferenceRunner) else None


def _infos(engines: Sequence[Engine]) -> tuple[ArmInfo, ...]:
    """Describe both arms, under the names that the parts give them."""
    made = arms_of(engines, (), control=False)
    return tuple(
        arm.info.model_copy(update={"name": name})
        for name, arm in zip((OFF, ON), made, strict=True)
    )


def _control(runner: Runner, recipe: Recipe) -> Callable[[float], Arm] | None:
    """Plant a wrong rule of acceptance, where the engine is ours."""
    if recipe.backend != "reference":
        return None
    from trtspec.reference.runner import ReferenceRunner
    from trtspec.verify.arms.planted import too_hot

    return partial(too_hot, runner) if isinstance(runner, ReferenceRunner) else None


def _oracle(
    artifact: Artifact, runner: Runner, asked: Mapping[str, Any]
) -> tuple[Callable[[], Judged] | None, str]:
    """Say how the target comes to the reference engine, or why it does not."""
    recipe, given = artifact.recipe, asked["oracle_model"]
    if recipe.backend == "reference" and given is None:
        return partial(_own_model, runner, artifact), ""
    if given is None:
        return None, (
            f"backend {recipe.backend}: name the target's checkpoint with "
            "--oracle-model to have its tokens judged by the reference engine"
        )
    if recipe.target.quantization != "none":
        return None, (
            f"the target is quantized to {recipe.target.quantization}, which the "
            "reference engine does not run"
        )
    return (
        partial(other_model, given, recipe.target.dtype, asked["device"] or "cpu"),
        "",
    )


def _own_model(runner: Runner, artifact: Artifact) -> Judged:
    from trtspec.reference.runner import ReferenceRunner

    assert isinstance(runner, ReferenceRunner), "of that backend"
    return own_model(runner, artifact.target, artifact.recipe.target.dtype)


def _telling(recipe: Recipe, off: Runner, on: Runner) -> tuple[Arm, Arm] | None:
    """Give arms that tell log-probabilities, where the engine has them."""
    if recipe.backend != "reference":
        return None
    return (
        RunnerArm(OFF, off, speculate=False, logprobs=ALTERNATIVES),
        RunnerArm(ON, on, speculate=True, logprobs=ALTERNATIVES),
    )

"""Real verdicts: built artifacts of the embedded engine, speculation on against off."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from trtspec.build.artifact import Artifact
from trtspec.methods import Method
from trtspec.reference.acceptance.planted import CONTROL, PLANTED
from trtspec.reference.runner import ReferenceRunner
from trtspec.verify.distribution import DistributionResult, Plan, evaluate
from trtspec.verify.distribution.collect import Collected, ask
from verify_bench.arms import RunnerArm

SLOTS = 32
LONGEST = 64
TEXTS: Mapping[str, str] = {
    "list": "The days of the week are Monday, Tuesday, Wednesday, Thursday,",
    "code": "for i in range(10):\n    print(i)\nfor j in range(",
    "story": "The old man went to the sea. The old man went to",
    "fact": "The capital of France is Paris. The capital of Italy",
}
PROMPTS = TEXTS


@dataclass
class _Off:
    """The off arm's answers, shared by artifacts of one target, and their seconds."""

    halves: tuple[Collected, Collected]
    seconds: float


def verdicts(folders: Sequence[Path], plan: Plan) -> bool:
    """Test each artifact and print its verdict; whether all passed."""
    # one off sample for all: as many looks as there are artifacts
    plan = plan.model_copy(update={"looks": max(1, len(folders))})
    off: _Off | None = None
    lender: ReferenceRunner | None = None
    passed = True
    print(
        f"{plan.cost(len(TEXTS))}\n\n| artifact | verdict | p | smallest shift found | "
        "control, p | accepted / drafted | seconds, off arm's |\n"
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
    )
    for number, folder in enumerate(folders):
        artifact = Artifact.open(folder)
        runner = _open(artifact, lender)
        lender = lender or runner
        prompts = {name: runner.encode(text) for name, text in TEXTS.items()}
        off = off or _ask_off(runner, prompts, plan)
        started = time.perf_counter()
        result = _test(runner, artifact.recipe.speculation, prompts, off, plan, number)
        spent = time.perf_counter() - started
        print(_row(folder.name, result, spent, off.seconds), flush=True)
        print("\n".join(result.reasons), file=sys.stderr, flush=True)
        passed &= result.verdict == "pass"
    return passed


def _open(artifact: Artifact, lender: ReferenceRunner | None) -> ReferenceRunner:
    """Open an artifact with more and shorter slots than it was built for."""
    limits = artifact.recipe.limits.model_copy(
        update={
            "max_batch_size": SLOTS,
            "max_input_tokens": LONGEST,
            "max_total_tokens": 2 * LONGEST,
        }
    )
    recipe = artifact.recipe.model_copy(update={"limits": limits})
    return ReferenceRunner(
        recipe, artifact.target, artifact.draft, threads=1, lender=lender
    )


def _ask_off(
    runner: ReferenceRunner, prompts: Mapping[str, tuple[int, ...]], plan: Plan
) -> _Off:
    started = time.perf_counter()
    arm, seeds = RunnerArm("off", runner, speculate=False), plan.seeds
    halves = ask(arm, prompts, plan, 0, seeds), ask(arm, prompts, plan, seeds, seeds)
    return _Off(halves, time.perf_counter() - started)


def _test(  # noqa: PLR0917
    runner: ReferenceRunner,
    method: Method,
    prompts: Mapping[str, tuple[int, ...]],
    off: _Off,
    plan: Plan,
    number: int,
) -> DistributionResult:
    drafts = at_every_batch_size(method)
    on = RunnerArm("on", runner, method=drafts)
    planted = partial(runner.engine.instead, rule=PLANTED[CONTROL])
    wrong = RunnerArm(CONTROL, runner, method=drafts, around=planted)
    first = 2 * (1 + number) * plan.seeds  # no two artifacts share seeds either
    answers = ask(on, prompts, plan, first, plan.seeds)
    control = ask(wrong, prompts, plan, first + plan.seeds, plan.seeds)
    return evaluate(off.halves, answers, control, CONTROL, plan)


def at_every_batch_size(method: Method) -> Method:
    """Let a method draft as it does for one request, however many there are."""
    if "draft_length" not in method.of_request:
        return method
    return method.model_copy(update={"draft_length": method.draft_length_at(1)})


def _row(name: str, found: DistributionResult, spent: float, off: float) -> str:
    least = found.on.smallest_shift
    return (
        f"| {name} | {found.verdict} | {found.on.p_value:.3f} | "
        f"{f'{least:.2f}' if least else 'none'} | {found.control.p_value:.3f} | "
        f"{found.drafts.accepted} / {found.drafts.drafted} | {spent:.0f}, {off:.0f} |"
    )

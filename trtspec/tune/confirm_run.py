"""The bench that a choice is confirmed with: the best few against plain decoding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from trtspec.bench.arms import OFF, Arm, control_of
from trtspec.bench.candidates import Engine, arm_of
from trtspec.bench.conditions import record_conditions
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.in_process import InProcess
from trtspec.bench.measure import Session, measure, requests_of
from trtspec.bench.progress import Watcher
from trtspec.bench.records import Block
from trtspec.bench.result import Plan, PromptSet, Settings
from trtspec.bench.rundir import BenchRun, RunDirectory, now
from trtspec.build.artifact import Artifact
from trtspec.reference.runner import ReferenceRunner, open_runner
from trtspec.tune.bill import Item
from trtspec.tune.choose import best_of
from trtspec.tune.confirm import (
    TUNED,
    fixed_name,
    measurements,
    outside,
    regret,
    revise,
)
from trtspec.tune.decide import Choice
from trtspec.tune.paths import CONFIRMATION
from trtspec.tune.result import (
    CandidateResult,
    Confirmation,
    Disagreement,
    Measurement,
)
from trtspec.tune.shown import load_choice

Watching = Callable[[int, int], AbstractContextManager[Watcher]]

ALTERNATIVES = 2
"""Single lengths that are measured beside the choice, unless all are."""


@dataclass(frozen=True, slots=True)
class Confirming:
    """What is confirmed, and with what.

    :param choice: the best candidate's.
    :param found: what is known of it so far.
    :param exhaustive: measure every draft length.
    """

    choice: Choice
    found: CandidateResult
    prompts: Sequence[BenchPrompt]
    prompt_set: PromptSet
    settings: Settings
    exhaustive: bool


class Confirmed(NamedTuple):
    """What the bench brought.

    :ivar candidate: what is known of it now, the choice corrected.
    :ivar item: what the bench cost.
    :ivar run: the bench itself.
    """

    candidate: CandidateResult
    confirmation: Confirmation
    item: Item
    run: BenchRun


def confirm(
    of: Confirming,
    output: Path,
    device: str,
    threads: int | None,
    watching: Watching,
) -> Confirmed:
    """Measure the choice, and let the measurement correct it.

    :param output: directory of the tuning.
    """
    run = run_bench(of, output / CONFIRMATION, device, threads, watching)
    measured = measurements(run.result)
    revised = revise(of.choice.lengths, measured)
    choice = of.choice.with_lengths(revised.lengths)
    loads = []
    for load in choice.question.loads:
        arm = revised.arms.get(load, TUNED)
        found = measured.get(load, {}).get(arm)
        seen = {"measured": found, "doubted": found is None}
        loads.append(load_choice(choice, load).model_copy(update=seen))
    candidate = of.found.model_copy(
        update={
            "loads": tuple(loads),
            "draft_length": choice.draft_length,
            "tree": choice.tree,
        }
    )
    told = Confirmation(
        run=CONFIRMATION,
        exhaustive=of.exhaustive,
        changed=revised.changed,
        disagreements=_disagreements(of.choice, measured),
        regret=regret(choice.lengths, measured) if of.exhaustive else {},
    )
    item = _item(run.raw.blocks, exhaustive=of.exhaustive)
    return Confirmed(candidate, told, item, run)


def run_bench(
    of: Confirming, path: Path, device: str, threads: int | None, watching: Watching
) -> BenchRun:
    """Measure the choice, single lengths and plain decoding in one run."""
    with _arms(of, device, threads) as arms:
        plan = Plan(
            name=of.choice.evidence.candidate.artifact.name,
            started=now(),
            arms=tuple(arm.info for arm in arms),
            prompts=of.prompt_set,
            settings=of.settings,
            conditions=record_conditions(arms[0].driver.conditions()),
        )
        directory = RunDirectory.create(path, plan)
        requests = requests_of(of.settings, arms)
        with watching(requests, of.settings.repeats) as watcher:
            return measure(Session(directory, arms, watcher))


@contextmanager
def _arms(of: Confirming, device: str, threads: int | None) -> Iterator[list[Arm]]:
    evidence = of.choice.evidence
    methods = {
        fixed_name(length): evidence.method_with(length)
        for length in lengths_to_measure(of.choice, exhaustive=of.exhaustive)
    }
    if of.choice.draft_length is not None:
        tuned = evidence.method_with(of.choice.draft_length)
        methods = {TUNED: tuned, **methods}
    artifact = evidence.candidate.traced_artifact()
    with ExitStack() as stack:

        def opened(
            artifact: Artifact, lender: ReferenceRunner | None
        ) -> tuple[Engine, ReferenceRunner]:
            runner = open_runner(
                artifact, device=device, threads=threads, lender=lender
            )
            stack.callback(runner.close)
            return Engine(artifact, InProcess(runner), tuple(of.prompts)), runner

        engine, runner = opened(artifact, None)
        off = arm_of(engine, OFF, speculate=False)
        arms = [off, *([control_of(off)] if of.settings.control else [])]
        for name, method in methods.items():
            if evidence.candidate.ranked:  # a tree belongs to the engine
                other = artifact.recipe.model_copy(update={"speculation": method})
                own, _ = opened(replace(artifact, recipe=other), runner)
                arms.append(arm_of(own, name))
            else:
                arms.append(arm_of(engine, name, own=method))
        yield arms


def lengths_to_measure(choice: Choice, *, exhaustive: bool) -> list[int]:
    """Which single lengths are arms beside the choice.

    The best of each load and the next best, as far as they are not the choice itself.
    """
    lengths = choice.evidence.lengths
    if exhaustive:
        return list(lengths)
    wanted: list[int] = []
    for load in choice.question.loads:
        ranked = sorted(
            (p for p in choice.surface[load] if p.length),
            key=lambda p: -p.throughput,
        )
        wanted += [p.length for p in ranked[:2]]
    rest = [k for k in dict.fromkeys(wanted) if k != choice.draft_length]
    if choice.draft_length is None:  # show that nothing pays
        first = choice.question.loads[0]
        best = best_of([p for p in choice.surface[first] if p.length])
        return [best.length]
    if len(lengths) == 1:
        return []
    return rest[:ALTERNATIVES]


def _item(blocks: Sequence[Block], *, exhaustive: bool) -> Item:
    times = [t for b in blocks for t in (b.prefill, b.decode) if t is not None]
    return Item(
        part="sweep" if exhaustive else "confirmation",
        engine_starts=1,
        steps=sum(t.steps for t in times),
        model_seconds=sum(t.seconds for t in times),
        seconds=sum(b.wall_seconds for b in blocks),
    )


def _disagreements(
    choice: Choice, measured: Mapping[int, Mapping[str, Measurement]]
) -> tuple[Disagreement, ...]:
    """List what the bench says otherwise than the prediction."""
    found = []
    for load, arms in measured.items():
        gains = {
            fixed_name(point.length): choice.gain(load, point.length)
            for point in choice.surface[load]
            if fixed_name(point.length) in arms
        } | {TUNED: choice.gain(load)}
        found += [
            Disagreement(concurrency=load, arm=arm, predicted=gains[arm], measured=one)
            for arm, one in arms.items()
            if outside(gains[arm], one)
        ]
    return tuple(found)

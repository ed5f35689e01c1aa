"""The bench that a choice is confirmed with: the best few against plain decoding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from trtspec.bench.arms import ArmInfo
from trtspec.bench.conditions import record_conditions
from trtspec.bench.measure import Session, measure, requests_of
from trtspec.bench.progress import Watcher
from trtspec.bench.result import Plan
from trtspec.bench.rundir import BenchRun, RunDirectory, now
from trtspec.tune.bill import Item
from trtspec.tune.confirm import (
    TUNED,
    fixed_name,
    measurements,
    outside,
    regret,
    revise,
)
from trtspec.tune.confirm_arms import Confirming, Opening
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
    of: Confirming, output: Path, opening: Opening, watching: Watching
) -> Confirmed:
    """Measure the choice, and let the measurement correct it.

    :param output: directory of the tuning.
    :param opening: opens the arms, plain decoding first.
    """
    run = run_bench(of, output / CONFIRMATION, opening, watching)
    measured = measurements(run.result)
    revised = revise(of.choice.lengths, measured)
    choice = of.choice.with_lengths(revised.lengths)
    loads = []
    for load in choice.question.loads:
        shown, arms = load_choice(choice, load), measured.get(load, {})
        best = fixed_name(shown.of_length)
        # where nothing is drafted the figures are of the best length that there is
        without = not shown.length and best in arms
        found = arms.get(best if without else revised.arms.get(load, TUNED))
        seen = {"measured": found, "doubted": found is None}
        loads.append(shown.model_copy(update=seen))
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
    item = _item(run, exhaustive=of.exhaustive)
    return Confirmed(candidate, told, item, run)


def run_bench(
    of: Confirming, path: Path, opening: Opening, watching: Watching
) -> BenchRun:
    """Measure the choice, single lengths and plain decoding in one run."""
    with opening(of) as arms:
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


def _item(run: BenchRun, *, exhaustive: bool) -> Item:
    blocks = run.raw.blocks
    times = [t for b in blocks for t in (b.prefill, b.decode) if t is not None]
    steps, wall = sum(t.steps for t in times), sum(b.wall_seconds for b in blocks)
    return Item(
        part="sweep" if exhaustive else "confirmation",
        engine_starts=len({_loaded(arm) for arm in run.result.plan.arms}),
        steps=steps,
        # an engine that does not tell its steps is taken to be busy all the time
        model_seconds=sum(t.seconds for t in times) if steps else wall,
        seconds=wall,
    )


def _loaded(arm: ArmInfo) -> str:
    return arm.artifact.fingerprint if arm.artifact else ""


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

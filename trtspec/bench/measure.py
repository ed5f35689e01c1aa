"""How a run goes: load by load, round by round, every arm one block in each."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

from trtspec.bench.arms import Arm, block_order
from trtspec.bench.collect import Place, block_record, failures, samples
from trtspec.bench.driver import BenchPrompt, Call
from trtspec.bench.progress import Silent, Watcher
from trtspec.bench.records import (
    WARM_UP_BLOCK,
    Failure,
    Load,
    Resources,
    warm_up_prompts,
)
from trtspec.bench.resources import watching_resources
from trtspec.bench.result import Settings
from trtspec.bench.rundir import BenchRun, RunDirectory
from trtspec.errors import RunError
from trtspec.run import SamplingParams

ResourceWatch = Callable[[], AbstractContextManager[Callable[[], Resources]]]


@dataclass(frozen=True, slots=True)
class Session:
    """What a run needs: where its records go, and its arms, ready to run.

    :param arms: those of the plan, in the same order.
    :param resources: watches the machine during a block.
    """

    directory: RunDirectory
    arms: Sequence[Arm]
    watcher: Watcher = field(default_factory=Silent)
    resources: ResourceWatch = watching_resources

    @property
    def settings(self) -> Settings:
        """How it is measured."""
        return self.directory.plan.settings


def measure(session: Session) -> BenchRun:
    """Run every block that is not recorded yet, and compute the result.

    A load under which a request fails has no numbers, only the failures. If the run is
    interrupted, or records cannot be written any more, the result is partial.

    :return: with ``unsaved`` set if records could not be written.
    :raises BaseException: an interrupt, after the partial result was written.
    """
    try:
        for load in session.settings.loads:
            _run_load(session, load)
    except RunError as error:  # records that cannot be written; requests raise nothing
        return replace(session.directory.finish(partial=True), unsaved=error)
    except BaseException:
        session.directory.finish(partial=True)
        raise
    return session.directory.finish(partial=False)


def _run_load(session: Session, load: Load) -> None:
    """Run a load's blocks; warm up first, also when going on with half a load."""
    directory = session.directory
    arms = {arm.name: arm for arm in session.arms}
    order = list(block_order(list(arms), session.settings.repeats))
    counted = [place for place in order if place[1] != WARM_UP_BLOCK]
    if directory.failed(load.key) or all(
        directory.has(load.key, arm, block) for arm, block in counted
    ):
        return
    for name, block in order:
        arm = arms[name]
        warm_up = block == WARM_UP_BLOCK
        if warm_up and not warm_up_under(load, arm):
            continue
        if not warm_up and directory.has(load.key, name, block):
            continue
        if not _run_block(session, load, arm, block):
            return


def _run_block(session: Session, load: Load, arm: Arm, number: int) -> bool:
    """Run one block and record it; whether every request was answered."""
    directory, watcher = session.directory, session.watcher
    place = Place(arm.name, number, load.key, len(directory.raw.blocks))
    prompts = _prompts(load, arm, number)
    calls = _calls(session.settings, arm, place, prompts)
    watcher.block_started(arm.name, number, load.words)
    gc.collect()  # so that no block pays for the garbage of the one before
    started = datetime.now(timezone.utc)
    seed = session.settings.arrival_seed + number
    try:
        with session.resources() as used:
            result = arm.driver.run(
                calls, load, seed=seed, on_answer=watcher.request_finished
            )
    except RunError as error:
        told = Failure(
            arm=arm.name, block=number, load=load.key, prompt_id="", what=str(error)
        )
        _fail(session, [told])
        return False
    if failed := failures(place, prompts, result):
        _fail(session, failed)
        return False
    block = block_record(place, result, started, used())
    counted = [] if block.warm_up else samples(place, prompts, result)
    directory.add_block(block, counted)
    watcher.block_finished(block)
    return True


def _fail(session: Session, failed: Sequence[Failure]) -> None:
    session.directory.add_failures(failed)
    session.watcher.block_failed(failed)


def prompts_under(load: Load, prompts: Sequence[BenchPrompt]) -> list[BenchPrompt]:
    """Give the prompts that a load sends: all, or those of its category."""
    return [p for p in prompts if load.category in ("", p.category)]


def warm_up_under(load: Load, arm: Arm) -> int:
    """Say how many of an arm's prompts its warm-up block sends; a control has none."""
    if arm.role == "control":
        return 0  # the engine of the baseline, which is warm
    return warm_up_prompts(
        load.concurrency or 1,
        len(prompts_under(load, arm.prompts)),
        cached=arm.driver.caches_prompts,
    )


def _prompts(load: Load, arm: Arm, number: int) -> list[BenchPrompt]:
    prompts = prompts_under(load, arm.prompts)
    return prompts[: warm_up_under(load, arm)] if number == WARM_UP_BLOCK else prompts


def requests_of(settings: Settings, arms: Sequence[Arm]) -> int:
    """Count the requests of a whole run, warm-up included."""
    return sum(
        warm_up_under(load, arm)
        + settings.repeats * len(prompts_under(load, arm.prompts))
        for load in settings.loads
        for arm in arms
    )


def _calls(
    settings: Settings, arm: Arm, place: Place, prompts: Sequence[BenchPrompt]
) -> list[Call]:
    """Make the requests; prompt i has the i-th seed in every arm and block."""
    sampling = SamplingParams(
        temperature=settings.temperature,
        top_k=settings.top_k,
        top_p=settings.top_p,
        seed=settings.seed,
    )
    return [
        Call(
            id=f"{prompt.id}/{place.load}/{arm.name}/{place.block}",
            prompt=prompt,
            output_tokens=settings.output_tokens,
            sampling=replace(sampling, seed=sampling.seed + index),
            speculate=arm.speculate,
            speculation=arm.speculation,
            ignore_end=settings.fixed_length,
        )
        for index, prompt in enumerate(prompts)
    ]

"""What measuring costs in process: the bare runner loop against ``trtspec bench``."""

from __future__ import annotations

import gc
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from trtspec.bench.arms import Arm
from trtspec.bench.candidates import Engine, arms_of
from trtspec.bench.conditions import record_conditions
from trtspec.bench.driver import BenchPrompt, Call
from trtspec.bench.in_process import InProcess, request_of
from trtspec.bench.measure import Session, measure
from trtspec.bench.progress import Silent
from trtspec.bench.records import Load
from trtspec.bench.result import Plan, PromptSet, Settings
from trtspec.bench.rundir import RunDirectory, now
from trtspec.build.artifact import Artifact
from trtspec.recipe import load_prompts
from trtspec.run import Request, Runner, SamplingParams, StepResult

Log = Callable[[str], None]


class Timed:
    """A runner that adds up the time spent inside of it.

    On a machine that others use too, throughput of two blocks differs by what they do;
    the share of time outside of the engine is what measuring itself costs.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self.inside = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runner, name)

    def submit(self, request: Request) -> None:
        """Pass it on."""
        started = time.perf_counter()
        self._runner.submit(request)
        self.inside += time.perf_counter() - started

    def advance(self) -> StepResult:
        """Pass it on."""
        started = time.perf_counter()
        result = self._runner.advance()
        self.inside += time.perf_counter() - started
        return result


class Taken(NamedTuple):
    """One block.

    :ivar outside: share of its wall time that was not spent in the engine.
    """

    tokens_per_second: float
    outside: float


def measure_overhead(
    artifact: Artifact,
    prompts_file: Path,
    *,
    prompts: int,
    tokens: int,
    concurrency: int,
    repeats: int,
    log: Log,
) -> dict[str, Any]:
    """Run the off arm both ways in turns, on the same prompts; tokens per second."""
    from trtspec.reference.runner import open_runner

    loaded = open_runner(artifact)
    runner: Any = Timed(loaded)
    try:
        rendered = tuple(
            BenchPrompt(
                p.id, p.category, tuple(p.messages), runner.encode_chat(p.messages)
            )
            for p in load_prompts(prompts_file)[:prompts]
        )
        arm = arms_of(
            [Engine(artifact, InProcess(runner), rendered)], (), control=False
        )[0]
        settings = _settings(Load(concurrency=concurrency), tokens)
        rounds = _rounds(runner, arm, settings, repeats, log)
    finally:
        loaded.close()
    ratios = [
        r["bench"].tokens_per_second / r["bare"].tokens_per_second for r in rounds
    ]
    return {
        "artifact": artifact.path.name,
        **{way: [r[way]._asdict() for r in rounds] for way in ("bare", "bench")},
        "ratios": ratios,
        "ratio": statistics.median(ratios),
        "ratio_of_inside": statistics.median(
            (1 - r["bench"].outside) / (1 - r["bare"].outside) for r in rounds
        ),
    }


def _rounds(
    runner: Timed, arm: Arm, settings: Settings, repeats: int, log: Log
) -> list[dict[str, Taken]]:
    """Give both ways per round; which comes first changes from round to round."""
    calls = _calls(arm.prompts, settings.output_tokens)
    concurrency = settings.loads[0].concurrency or 1
    bare_loop(runner, calls, concurrency)  # warm-up
    rounds = []
    for index in range(repeats):
        taken: dict[str, Taken] = {}
        for way in ("bench", "bare") if index % 2 else ("bare", "bench"):
            if way == "bare":
                taken[way] = bare_loop(runner, calls, concurrency)
            else:
                taken[way] = under_bench(runner, arm, settings)
        rounds.append(taken)
        log(f"(c) round {index + 1}/{repeats}: {taken}")
    return rounds


def _calls(prompts: Sequence[BenchPrompt], tokens: int) -> list[Call]:
    return [
        Call(p.id, p, tokens, SamplingParams(seed=i), speculate=False, ignore_end=True)
        for i, p in enumerate(prompts)
    ]


def bare_loop(runner: Timed, calls: Sequence[Call], concurrency: int) -> Taken:
    """Submit and advance, and nothing else."""
    waiting = deque(request_of(call) for call in calls)
    gc.collect()  # as before each block of a bench
    running = tokens = 0
    runner.inside, started = 0.0, time.perf_counter()
    while waiting or running:
        while waiting and running < concurrency:
            runner.submit(waiting.popleft())
            running += 1
        for chunk in runner.advance().chunks:
            if chunk.completion is not None:
                running -= 1
                tokens += len(chunk.completion.tokens)
    wall = time.perf_counter() - started
    return Taken(tokens / wall, 1 - runner.inside / wall)


def under_bench(runner: Timed, arm: Arm, settings: Settings) -> Taken:
    """Measure one block as ``trtspec bench`` does, its records written to disk."""
    plan = Plan(
        name="overhead",
        started=now(),
        arms=(arm.info,),
        prompts=PromptSet(file="none", sha256="none", count=len(arm.prompts)),
        settings=settings,
        conditions=record_conditions({}),
    )
    with tempfile.TemporaryDirectory() as folder:
        directory = RunDirectory.create(Path(folder) / "run", plan)
        done = measure(Session(directory, [arm], _Resetting(runner)))
    (block,) = (b for b in done.raw.blocks if not b.warm_up)
    rate = block.output_tokens / block.wall_seconds
    return Taken(rate, 1 - runner.inside / block.wall_seconds)


class _Resetting(Silent):
    """Begins to count anew with every block, so that the warm-up is left out."""

    def __init__(self, runner: Timed) -> None:
        self._runner = runner

    def block_started(self, arm: str, block: int, load: str) -> None:
        """Forget the block before."""
        self._runner.inside = 0.0


def _settings(load: Load, tokens: int) -> Settings:
    return Settings(
        loads=(load,),
        repeats=1,
        control=False,
        output_tokens=tokens,
        fixed_length=True,
        temperature=0.0,
        top_k=0,
        top_p=1.0,
        seed=0,
    )

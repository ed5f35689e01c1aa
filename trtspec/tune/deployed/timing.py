"""How long steps take on a recipe's own backend: blocks of requests that run together.

A block is as many requests as the batch size, all sent at once, with answers of one
length. Its draft length is asked for in each request, or is that of the artifact.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from pydantic import JsonValue

from trtspec.bench.driver import BenchPrompt, Call
from trtspec.bench.in_process import InProcess
from trtspec.bench.outcome import Pass
from trtspec.bench.records import Load
from trtspec.errors import RunError, UsageError
from trtspec.methods import Method
from trtspec.run import Runner, SamplingParams
from trtspec.tune.bill import Meter
from trtspec.tune.costs import Place
from trtspec.tune.deployed.paces import reading_seconds, step_seconds, tells_steps
from trtspec.tune.deployed.setting import Setting, Settings
from trtspec.tune.deployed.shop import Shop

ROUNDS = 5
"""Counted blocks of each length at each batch size; one more comes before them."""
TOKENS = 48
"""Answer of a block's requests, as far as there is room."""


@dataclass
class Timed:
    """What was timed of one candidate.

    :param seconds: of a step in each counted block, by batch size and draft length.
    :param reading: seconds per prompt token, of each counted block without drafts.
    :param conditions: what the runner that decodes plainly says of itself.
    :param workload: the workload, once, with the longest draft; None: not asked for.
    :param longest: what the runner of the longest draft says of itself.
    """

    seconds: dict[Place, list[float]] = field(default_factory=lambda: defaultdict(list))
    reading: list[float] = field(default_factory=list)
    conditions: dict[str, JsonValue] = field(default_factory=dict)
    workload: Pass | None = None
    longest: dict[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True)
class Timing:
    """Times the steps of candidates, one artifact loaded at a time.

    :param prompts: the workload, as the model sees it.
    :param batches: batch sizes.
    :param meter: gets what it takes.
    """

    prompts: Sequence[BenchPrompt]
    batches: Sequence[int]
    sampling: SamplingParams
    meter: Meter
    rounds: int = ROUNDS
    tokens: int = TOKENS

    def run(
        self,
        settings: Settings,
        methods: Mapping[int, Method],
        shop: Shop,
        answers: int = 0,
    ) -> Timed:
        """Time plain decoding and every draft length.

        :param methods: the method by draft length, or by nodes of its tree.
        :param answers: decode the workload once, too, with the longest draft and up to
            so many tokens per answer; 0 does not.
        :raises RunError: if a request fails.
        :raises UsageError: if the backend does not say how many steps it took.
        """
        timed = Timed()
        asked = {0: settings.plain}
        asked |= {length: settings.drafting(m) for length, m in methods.items()}
        for group in _by_artifact(asked):
            recipe = next(iter(group.values())).recipe
            with self.meter.running(), shop.open(recipe) as opened:
                self.meter.started()
                self._require_same_prompts(opened.runner)
                driver = InProcess(opened.runner)
                if 0 in group:
                    timed.conditions = driver.conditions()
                if answers and (longest := max(methods)) in group:
                    timed.longest = driver.conditions()
                    calls = self._answers(answers, group[longest])
                    timed.workload = self._passed(driver, max(self.batches), calls)
                for batch in self.batches:
                    self._time(opened.runner, driver, batch, group, timed)
        return timed

    def _time(
        self,
        runner: Runner,
        driver: InProcess,
        batch: int,
        group: Mapping[int, Setting],
        timed: Timed,
    ) -> None:
        """Run the rounds of one batch size; in each every length has one block."""
        chance = random.Random(batch)
        for number in range(self.rounds + 1):
            for length in chance.sample(list(group), len(group)):
                calls = self._calls(runner, batch, number, length, group[length])
                done = self._passed(driver, batch, calls)
                if number:  # the first is to warm up
                    _note(timed, batch, length, done)

    def _calls(
        self, runner: Runner, batch: int, number: int, length: int, setting: Setting
    ) -> list[Call]:
        first = number * batch
        prompts = [
            self.prompts[(first + index) % len(self.prompts)] for index in range(batch)
        ]
        longest = max(len(prompt.tokens or ()) for prompt in prompts)
        room = runner.max_total_tokens - longest
        return [
            Call(
                id=f"costs/{batch}/{number}/{length}/{index}",
                prompt=prompt,
                output_tokens=min(self.tokens, room),
                sampling=self.sampling,
                speculate=setting.speculate,
                speculation=setting.own,
                ignore_end=True,
            )
            for index, prompt in enumerate(prompts)
        ]

    def _answers(self, tokens: int, setting: Setting) -> list[Call]:
        """Ask for the workload itself; prompt i has the i-th seed, as in a bench."""
        return [
            Call(
                id=prompt.id,
                prompt=prompt,
                output_tokens=tokens,
                sampling=replace(self.sampling, seed=self.sampling.seed + index),
                speculation=setting.own,
            )
            for index, prompt in enumerate(self.prompts)
        ]

    def _passed(self, driver: InProcess, batch: int, calls: Sequence[Call]) -> Pass:
        done = driver.run(calls, Load(concurrency=batch))
        if done.failed:
            first = done.failed[0]
            raise RunError(first.what, where=f"request {first.request_id}")
        steps = max(o.steps or 0 for o in done.answered)
        self.meter.add_work(steps, done.wall_seconds)
        return done

    def _require_same_prompts(self, runner: Runner) -> None:
        """Refuse a tokenizer or template that is not that of the traces."""
        for prompt in self.prompts:
            if runner.encode_chat(prompt.messages) != prompt.tokens:
                raise UsageError(
                    "the backend makes other token ids of it than the traces have",
                    where=f"prompt {prompt.id}",
                    allowed="one tokenizer and chat template",
                )


def _by_artifact(asked: Mapping[int, Setting]) -> Iterator[dict[int, Setting]]:
    """Group what one artifact serves, so that it is loaded once."""
    groups: list[dict[int, Setting]] = []
    for length, setting in asked.items():
        for group in groups:
            if next(iter(group.values())).recipe == setting.recipe:
                group[length] = setting
                break
        else:
            groups.append({length: setting})
    yield from groups


def _note(timed: Timed, batch: int, length: int, done: Pass) -> None:
    if not all(map(tells_steps, done.answered)):
        raise UsageError(
            "the backend does not say how many verification steps an answer took, so "
            "what a step costs cannot be told",
            where=f"draft length {length}",
            allowed="a release that tells it",
            action="measure draft lengths by trtspec bench, or price the steps: "
            "--price-for GPU",
        )
    if (seconds := step_seconds(done.answered)) is not None:
        timed.seconds[batch, length].append(seconds)
    if not length:
        timed.reading.append(reading_seconds(done))


def usual_reading(timed: Timed) -> float:
    """Give the usual seconds per prompt token."""
    return median(timed.reading)

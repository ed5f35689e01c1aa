"""The arms of a bench on a recipe's own backend, each on the artifact that it needs.

Engines of backend tensorrt cannot be loaded beside one another in one process, so
there they take turns; else they are loaded once and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from trtspec.bench.arms import OFF, Arm, control_of
from trtspec.bench.candidates import Engine, arm_of
from trtspec.bench.driver import BenchPrompt, Call, Driver
from trtspec.bench.in_process import InProcess
from trtspec.bench.outcome import Pass
from trtspec.bench.records import Load, warm_up_prompts
from trtspec.build.artifact import Artifact
from trtspec.methods import Method
from trtspec.recipe.schema import Recipe
from trtspec.tune.deployed.setting import Setting, Settings
from trtspec.tune.deployed.shop import Shop


@dataclass
class Stage:
    """Holds the artifact that is loaded; another one takes its place."""

    shop: Shop
    _recipe: Recipe | None = None
    _driver: InProcess | None = None
    _artifact: Artifact | None = None
    _closing: ExitStack = field(default_factory=ExitStack)

    def load(self, recipe: Recipe) -> tuple[Artifact, InProcess, bool]:
        """Give an artifact's driver, and whether it was loaded just now."""
        fresh = recipe != self._recipe
        if fresh:
            self.close()
            opened = self._closing.enter_context(self.shop.open(recipe))
            self._recipe, self._artifact = recipe, opened.artifact
            self._driver = InProcess(opened.runner)
        assert self._driver is not None
        assert self._artifact is not None
        return self._artifact, self._driver, fresh

    def close(self) -> None:
        """Free what is loaded."""
        self._recipe = None
        self._closing.close()


class Taking:
    """Drives an artifact that is loaded when its turn comes; a ``Driver``."""

    def __init__(self, stage: Stage, recipe: Recipe) -> None:
        self._stage, self._recipe = stage, recipe
        self.artifact, driver, _ = stage.load(recipe)
        self._conditions = {**driver.conditions(), "loaded": "for each block"}
        self.caches_prompts = driver.caches_prompts

    def conditions(self) -> dict[str, JsonValue]:
        """Give what the engine said of itself when it was loaded first."""
        return self._conditions

    def run(
        self,
        calls: Sequence[Call],
        load: Load,
        *,
        seed: int = 0,
        on_answer: Callable[[], None] = lambda: None,
    ) -> Pass:
        """Send all calls; load the artifact and warm it up if another one is loaded."""
        _, driver, fresh = self._stage.load(self._recipe)
        if fresh:
            count = warm_up_prompts(
                load.concurrency or 1, len(calls), cached=self.caches_prompts
            )
            warm = [replace(call, id=f"warm/{call.id}") for call in calls[:count]]
            driver.run(warm, load, seed=seed)
        return driver.run(calls, load, seed=seed, on_answer=on_answer)


@contextmanager
def deployed_arms(
    settings: Settings,
    methods: Mapping[str, Method],
    shop: Shop,
    prompts: Sequence[BenchPrompt],
    *,
    control: bool,
) -> Iterator[list[Arm]]:
    """Open plain decoding and every arm.

    :param methods: by the name of the arm.
    """
    loaded: list[tuple[Setting, Engine]] = []
    with ExitStack() as stack:
        stage = Stage(shop)
        stack.callback(stage.close)

        def engine(setting: Setting) -> Engine:
            for other, known in loaded:
                if other.recipe == setting.recipe:
                    return known
            driver: Driver
            if settings.recipe.backend == "tensorrt" and not settings.by_request:
                driver = taking = Taking(stage, setting.recipe)
                artifact = taking.artifact
            else:
                artifact, runner = stack.enter_context(shop.open(setting.recipe))
                driver = InProcess(runner)
            made = Engine(artifact, driver, tuple(prompts))
            loaded.append((setting, made))
            return made

        off = arm_of(engine(settings.plain), OFF, speculate=False)
        arms = [off, *([control_of(off)] if control else [])]
        for name, method in methods.items():
            setting = settings.drafting(method)
            arms.append(arm_of(engine(setting), name, own=setting.own))
        yield arms

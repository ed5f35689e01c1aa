"""Where ``trtspec tune`` gets what it times on a recipe's own backend."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from trtspec.build.artifact import Artifact
from trtspec.build.build import build
from trtspec.build.gates import require_no_findings
from trtspec.build.progress import SILENT, Progress
from trtspec.cli.common import backend_for, require_available
from trtspec.cli.runners import runner_for
from trtspec.errors import BackendUnavailableError, Problem, UsageError
from trtspec.methods import lossy_reason
from trtspec.recipe import LoadedRecipe
from trtspec.recipe.schema import Recipe
from trtspec.trtllm.probe import probe
from trtspec.tune.candidate import can_cut, with_length
from trtspec.tune.deployed.setting import Settings
from trtspec.tune.deployed.shop import Opened


@dataclass(frozen=True, slots=True)
class CommandShop:
    """Builds and loads as the other commands do; a ``Shop``.

    :param loaded: the recipe as it stands in its file.
    :param engines: directory of the artifacts.
    """

    loaded: LoadedRecipe
    engines: Path
    progress: Progress

    @contextmanager
    def open(self, recipe: Recipe) -> Iterator[Opened]:
        """Build an artifact, as far as it is not there, and load it until the end."""
        loaded = replace(self.loaded, recipe=recipe)
        backend = backend_for(recipe)
        artifact = build(loaded, backend, self.engines, self.progress).artifact
        runner = runner_for(artifact, device=None, threads=None, progress=self.progress)
        try:
            yield Opened(artifact, runner)
        finally:
            runner.close()

    def require_possible(self, recipe: Recipe) -> None:
        """Check a recipe without building it.

        :raises FindingsError: if the backend cannot have it.
        """
        loaded = replace(self.loaded, recipe=recipe)
        require_no_findings(loaded, backend_for(recipe), SILENT)


def require_tunable_here(loaded: LoadedRecipe) -> None:
    """Refuse a recipe of another backend that cannot be timed here.

    :raises BackendUnavailableError: if the backend is not here.
    :raises UsageError: if its output is lossy: no trace holds for it.
    """
    recipe = loaded.recipe
    backend = backend_for(recipe)
    try:
        require_available(backend, recipe)
    except BackendUnavailableError as error:
        priced = Problem(
            f"steps of backend {recipe.backend} cannot be timed here",
            loaded.where("backend"),
            action="--price-for GPU prices them, and traces what is accepted on "
            "backend reference",
        )
        raise BackendUnavailableError.from_problems(
            [*error.problems, priced]
        ) from error
    sampled = recipe.sampling.temperature > 0 and recipe.sampling.top_k != 1
    method = recipe.speculation
    version = probe().version
    if why := lossy_reason(method, recipe.backend, version, sampled=sampled):
        raise UsageError(
            f"{method.method} on backend {recipe.backend} of TensorRT-LLM {version} is "
            f"lossy here: {why}",
            where=loaded.where("speculation", "method"),
            allowed="what keeps the target's output: no trace holds for anything else",
            action="tune a copy of the recipe with temperature 0, or with another "
            "method; trtspec methods says which",
        )


def build_longest(
    loaded: LoadedRecipe, longest: int, engines: Path, progress: Progress, why: str
) -> Artifact:
    """Build a recipe's own artifact with the longest draft that is looked at.

    :param why: it cannot be traced on backend reference.
    :raises UsageError: if a longer draft tells nothing of shorter ones.
    """
    method = loaded.recipe.speculation
    if not can_cut(method):
        raise UsageError(
            f"{method.method} cannot be traced on backend reference: {why}",
            where=loaded.where("speculation", "method"),
            allowed="a chain of draft tokens, of which shorter ones can be told; or a "
            "machine that can trace it",
            action="measure it as it is: trtspec bench",
        )
    setting = Settings(loaded.recipe, with_length(method, longest))
    recipe = setting.drafting(setting.longest).recipe
    changed = replace(loaded, recipe=recipe)
    return build(changed, backend_for(recipe), engines, progress).artifact


def require_arms(shop: CommandShop, settings: Settings) -> None:
    """Check the artifacts of the two ends: no draft, and the longest.

    :raises FindingsError: if the backend cannot have one of them.
    """
    for setting in (settings.plain, settings.drafting(settings.longest)):
        shop.require_possible(setting.recipe)

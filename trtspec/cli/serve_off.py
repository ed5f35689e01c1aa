"""Which artifact the off pool serves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trtspec.build.artifact import Artifact
from trtspec.build.progress import Progress
from trtspec.errors import Problem, UsageError
from trtspec.recipe.load import LoadedRecipe, load_recipe
from trtspec.recipe.schema import Recipe

_OWN = "recipe.yaml"
_LONGEST_NAME = 80
_SUFFIX = "-off"


def off_artifact(
    path: Path, on: Artifact, asked: Mapping[str, Any], progress: Progress
) -> Artifact | None:
    """Open or build the off pool's artifact; None if there is to be none.

    :param path: what the on pool's artifact was named as.
    :raises UsageError: if it drafts, or is of another target model.
    :raises TrtspecError: as ``build`` does.
    """
    from trtspec.cli.artifact import open_or_build

    if asked["off"] is not None:
        found = open_or_build(asked["off"], asked["engines"], progress)
        require_pair(on, found)
        return found
    if not asked["with_off"]:
        return None
    if on.recipe.speculation.method == "none":
        raise UsageError(
            "the recipe has method none: it is an off pool by itself",
            where="--with-off",
            action="leave it out",
        )
    found = _derived(path, Path(asked["engines"]), progress)
    require_pair(on, found)
    return found


def without_speculation(recipe: Recipe) -> Recipe:
    """Give the same recipe with method none, under a name that says so."""
    content = recipe.model_dump(mode="json", by_alias=True, exclude_unset=True)
    content["name"] = recipe.name[: _LONGEST_NAME - len(_SUFFIX)] + _SUFFIX
    content["speculation"] = {"method": "none"}
    content.pop("tuned", None)
    return Recipe.model_validate(content)


def require_pair(on: Artifact, off: Artifact) -> None:
    """Refuse two artifacts between which requests must not be spread.

    :raises UsageError: saying what is wrong.
    """
    problems = []
    if on.recipe.speculation.method == "none":
        problems.append(Problem("the first artifact does not draft: it is off itself"))
    if off.recipe.speculation.method != "none":
        method = off.recipe.speculation.method
        problems.append(Problem(f"it drafts, with {method}", "--off", "method none"))
    if off.recipe.backend != "pytorch":
        what = f"it is of backend {off.recipe.backend}"
        problems.append(Problem(what, "--off", "backend pytorch"))
    if _target(on) != _target(off):
        what = "it has another target model, or another type or quantization of it"
        problems.append(
            Problem(
                what,
                "--off",
                "an artifact that differs in its speculation only",
                "use --with-off",
            )
        )
    if problems:
        raise UsageError.from_problems(problems)


def _derived(path: Path, engines: Path, progress: Progress) -> Artifact:
    from trtspec.build.build import build
    from trtspec.cli.common import backend_for, require_available

    loaded = load_recipe(path / _OWN if path.is_dir() else path)
    off = LoadedRecipe(without_speculation(loaded.recipe), loaded.path, loaded.lines)
    backend = backend_for(off.recipe)
    require_available(backend, off.recipe)
    return build(off, backend, engines, progress).artifact


def _target(artifact: Artifact) -> tuple[object, ...]:
    """What decides the target model's output."""
    target, source = artifact.recipe.target, artifact.manifest.source["target"]
    return source.files, target.dtype, target.quantization, target.chat_template

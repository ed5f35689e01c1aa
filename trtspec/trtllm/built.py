"""What ``trtspec check`` says of a directory: an artifact, or somebody's engines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from trtspec.build.artifact import MANIFEST, Artifact
from trtspec.check.finding import SEVERITIES, Finding
from trtspec.check.rules.forced_acceptance import by_variables
from trtspec.errors import RunError, UsageError
from trtspec.trtllm.runtime import Runtime

if TYPE_CHECKING:
    from trtspec.recipe import Recipe
    from trtspec.trtllm.engine.engine_config import EngineConfig

_BUILD_AGAIN = "build it again: trtspec build RECIPE"


def built_findings(
    directory: Path, recipe: Path | None, runtime: Runtime
) -> list[Finding]:
    """Say what keeps a built directory from running; nothing is loaded.

    :param recipe: what engines made elsewhere are to do; an artifact has its own.
    :raises UsageError: if the directory is neither, or engines come without a recipe.
    """
    if not (directory / MANIFEST).exists():
        found = list(_engine_directory(directory, recipe, runtime))
    elif recipe is not None:
        raise UsageError(
            f"{directory} is an artifact, which has a recipe of its own",
            where="--for",
            action="leave --for out",
        )
    else:
        found = list(_artifact(directory, runtime))
    return sorted(found, key=_order)


def _order(finding: Finding) -> tuple[int, bool]:
    """The worst first; the command that mends it all at the end."""
    return SEVERITIES.index(finding.severity), finding.rule == "engine-rebuild"


def _artifact(directory: Path, runtime: Runtime) -> Iterator[Finding]:
    try:
        artifact = Artifact.open(directory)
    except RunError as error:
        yield from _damaged(
            error, directory, "it is not what was built, and is not run"
        )
        return
    backend = artifact.recipe.backend
    yield from by_variables(os.environ, backend)
    if backend == "reference":
        return
    yield from _environment(runtime)
    if backend == "tensorrt":
        from trtspec.trtllm.engine.built_for import built_capability

        capability = built_capability(artifact.manifest)
        folders = artifact.target, artifact.draft
        yield from _engines(artifact.recipe, directory, folders, capability, runtime)
    else:
        yield from _release(artifact, runtime)


def _engine_directory(
    directory: Path, recipe: Path | None, runtime: Runtime
) -> Iterator[Finding]:
    if not (directory / "config.json").exists():
        raise UsageError(
            f"{directory} holds neither {MANIFEST} nor config.json",
            where="RECIPE",
            allowed="a recipe, an artifact that trtspec build made, or a directory "
            "that trtllm-build made",
        )
    if recipe is None:
        raise UsageError(
            f"{directory} does not say what it is to do",
            where="--for",
            allowed="the recipe that the engine is to serve",
            action=f"trtspec check {directory} --for RECIPE",
        )
    from trtspec.recipe.load import load_recipe

    loaded = load_recipe(recipe).recipe
    if loaded.backend != "tensorrt":
        raise UsageError(
            f"{recipe} has backend {loaded.backend}, which runs no engines",
            where="--for",
            allowed="a recipe with backend: tensorrt",
        )
    yield from by_variables(os.environ, loaded.backend)
    yield from _environment(runtime)
    yield from _engines(loaded, directory, (directory, None), None, runtime)


def _environment(runtime: Runtime) -> Iterator[Finding]:
    from trtspec.trtllm.environment import environment_findings
    from trtspec.trtllm.surroundings import look_around

    installation = runtime.installation
    if installation.version is None:
        yield Finding(
            "installation",
            "warning",
            "installation",
            "TensorRT-LLM is not here: whether its version runs this is not known",
            installation.why_absent("package"),
            "name what will run it: --trtllm VERSION",
        )
    elif runtime.gpu is None:
        yield from environment_findings(installation, look_around())


def _engines(
    recipe: Recipe,
    where: Path,
    folders: tuple[Path, Path | None],
    capability: str | None,
    runtime: Runtime,
) -> Iterator[Finding]:
    from trtspec.trtllm.engine.built_findings import Built, engine_findings
    from trtspec.trtllm.engine.run.load import Engines

    target, draft = (_read(folder) for folder in folders)
    for read in (target, draft):
        if isinstance(read, RunError):
            yield from _damaged(read, where, "it is no engine that could be loaded")
    if target is None or isinstance(target, RunError) or isinstance(draft, RunError):
        return
    said = Engines(target, draft, capability)
    version = runtime.installation.version or said.target.release
    if version is None:
        return
    worker = runtime.installation.worker
    built = Built(recipe, said, where)
    gpus = runtime.gpus(said.target.tp_size)
    yield from engine_findings(built, version, gpus, worker)


def _read(folder: Path | None) -> EngineConfig | RunError | None:
    """Read what an engine says of itself, or why it cannot be read."""
    from trtspec.trtllm.engine.engine_config import read_engine

    try:
        return read_engine(folder) if folder else None
    except RunError as error:
        return error


def _damaged(error: RunError, directory: Path, why: str) -> Iterator[Finding]:
    for problem in error.problems:
        yield Finding(
            "artifact-damaged",
            "blocking",
            problem.where or str(directory),
            problem.what,
            why,
            problem.action or _BUILD_AGAIN,
        )


def _release(artifact: Artifact, runtime: Runtime) -> Iterator[Finding]:
    """Say that a configuration means something else to the release."""
    from trtspec.errors import TrtspecError
    from trtspec.trtllm.pytorch.release import built_for, require_family

    version = runtime.installation.version
    if version is None:
        return
    try:
        require_family(
            version,
            built_for(artifact),
            f"TensorRT-LLM {version} is to run it",
            where=str(artifact.path),
            action="build the recipe again with that release",
        )
    except TrtspecError as error:
        for problem in error.problems:
            yield Finding(
                "artifact-release",
                "blocking",
                problem.where,
                problem.what,
                f"it means the same only to {problem.allowed}"
                if problem.allowed
                else "",
                problem.action or _BUILD_AGAIN,
                snippet="trtspec build RECIPE",
                values={
                    "built_for": str(built_for(artifact)),
                    "release": str(version),
                },
            )

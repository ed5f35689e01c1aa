"""Why there is no backend pytorch here, and which ways lead on."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from trtspec.errors import BackendUnavailableError, Problem
from trtspec.methods import Method
from trtspec.recipe.schema import Recipe
from trtspec.trtllm.facts.families import (
    FAMILIES,
    Family,
    family_of,
    newest_of,
    why_no_family,
)
from trtspec.trtllm.installation import OPTION, Installation
from trtspec.trtllm.obtain import release, runs_on_reference

_STABLE: Family = "1.2"
"""The newest family whose releases are no candidates."""


def pytorch_unavailable(
    installation: Installation, recipe: Recipe | None = None
) -> BackendUnavailableError:
    """Make the error for a backend that is not there, with the ways on.

    :param installation: one for which ``pytorch_problems`` gives any.
    :param recipe: what was to be built or run.
    """
    problems = pytorch_problems(installation, recipe)
    error = BackendUnavailableError.from_problems(problems)
    assert isinstance(error, BackendUnavailableError), "the class it was asked of"
    return error


def pytorch_problems(
    installation: Installation, recipe: Recipe | None = None
) -> tuple[Problem, ...]:
    """Say why nothing can be built or run here; empty if nothing is missing.

    GPUs and the server are not asked for: neither is needed to build.

    :param recipe: for ways on that have its method.
    """
    return tuple(_problems(installation, recipe))


def _problems(installation: Installation, recipe: Recipe | None) -> Iterator[Problem]:
    version = installation.version
    if installation.package is None:
        yield _not_installed(recipe)
    elif version is None:
        why = installation.why_absent("version")
        what = f"the version of TensorRT-LLM is unknown: {why}"
        yield Problem(
            what, action=f"install a release: {release(_version_for(recipe))}"
        )
    elif family_of(version) is None:
        yield no_family(version)


def no_family(version: Version) -> Problem:
    """Say that a version is of no family of releases, and which one near it is."""
    near = " or ".join(release(str(found)) for found in nearest_releases(version))
    return Problem(
        f"TensorRT-LLM {version} is of no release family that trtspec configures: "
        f"{why_no_family(version)}",
        allowed=", ".join(str(newest_of(family)) for family in FAMILIES),
        action=f"install a release of a family: {near}",
    )


def nearest_releases(version: Version) -> tuple[Version, ...]:
    """Give the last version before it and the first one after it that have a family."""
    known = [newest_of(family) for family in FAMILIES]
    before = [found for found in known if found < version][-1:]
    return *before, *[found for found in known if found > version][:1]


def release_for(method: Method) -> Version:
    """Give the newest stable release with a method; a candidate where none has it."""
    stable, newest = newest_of(_STABLE), newest_of("main")
    has_it = method.covered("pytorch", stable)
    return stable if has_it else newest


def _version_for(recipe: Recipe | None) -> str:
    method = None if recipe is None else recipe.speculation
    return str(newest_of(_STABLE) if method is None else release_for(method))


def _not_installed(recipe: Recipe | None) -> Problem:
    version = _version_for(recipe)
    here = recipe is not None and runs_on_reference(recipe.speculation)
    ways = f"on a machine with an NVIDIA GPU: {release(version)}"
    ways += "; here: set backend: reference" if here else ""
    ways += (
        "; the version decides what is written: to check or plan anywhere, name it: "
        f"trtspec plan RECIPE {OPTION} {version}"
    )
    return Problem("TensorRT-LLM is not installed", action=ways)

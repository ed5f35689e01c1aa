"""Why there is no way to TensorRT engines here, and which ways lead on."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from packaging.version import Version

from trtspec.errors import BackendUnavailableError, Problem
from trtspec.recipe import Recipe, dump_recipe
from trtspec.trtllm.alternatives import ALTERNATIVES
from trtspec.trtllm.facts import has_backend, releases, removal
from trtspec.trtllm.installation import (
    PYTORCH_BACKEND,
    Installation,
    is_too_old,
    supported_range,
)
from trtspec.trtllm.obtain import pip_install, release, runs_on_reference
from trtspec.trtllm.rewrite import pytorch_recipe, rewriting_notes
from trtspec.trtllm.versions import contains

_YAML_INDENT = " " * 4


def recommended_version() -> str:
    """The newest release that has the engine backend."""
    return releases()[-1].version


def engine_unavailable(
    installation: Installation, recipe: Recipe | None = None, *, building: bool = True
) -> BackendUnavailableError:
    """Make the error for an engine path that is not there, with the ways on.

    :param installation: one for which ``engine_problems`` gives any.
    :param recipe: what was to be built or run, to be rewritten for the other way.
    :param building: whether engines were to be built, not only run.
    """
    problems = engine_problems(installation, recipe, building=building)
    error = BackendUnavailableError.from_problems(problems)
    assert isinstance(error, BackendUnavailableError), "the class it was asked of"
    return error


def engine_problems(
    installation: Installation, recipe: Recipe | None = None, *, building: bool = True
) -> tuple[Problem, ...]:
    """Say why engines cannot be built or run here; empty if nothing is missing.

    One problem per cause; its action has all the ways on. GPUs and example scripts are
    not asked for.

    :param recipe: to be rewritten for backend pytorch, where that is a way on.
    :param building: whether engines are to be built; running them takes no builder.
    """
    return tuple(_problems(installation, recipe, building))


def _problems(
    installation: Installation, recipe: Recipe | None, building: bool
) -> Iterator[Problem]:
    version = installation.version
    if installation.package is None:
        yield _not_installed(recipe)
    elif version is None:
        why = installation.why_absent("version")
        yield Problem(f"the version of TensorRT-LLM is unknown: {why}", action=_pin())
    elif is_too_old(version):
        what = f"TensorRT-LLM {version} is older than what trtspec drives"
        yield Problem(what, allowed=supported_range(), action=_pin())
    elif not has_backend(version):
        yield _removed(version, recipe)
    elif building and installation.builder is None:
        yield _no_builder(version, installation.why_absent("builder"), recipe)
    elif not installation.executor:
        yield Problem(
            f"TensorRT-LLM {version} cannot run: {installation.why_absent('executor')}",
            action=f"install the wheel: {pip_install(version.public)}",
        )


def _pin() -> str:
    return (
        f"pin a release that has the engine backend: {release(recommended_version())}"
    )


def _not_installed(recipe: Recipe | None) -> Problem:
    plan = f"trtspec plan RECIPE --trtllm {recommended_version()}"
    here = recipe is None or runs_on_reference(recipe.speculation)
    ways = f"on a machine with an NVIDIA GPU: {release(recommended_version())}"
    ways += "; here: set backend: reference" if here else ""
    ways += f"; to see the plan anywhere: {plan}"
    return Problem("TensorRT-LLM is not installed", action=ways)


def _removed(version: Version, recipe: Recipe | None) -> Problem:
    gone = removal()
    return Problem(
        f"TensorRT-LLM {version} has no engine backend: the engine path was removed "
        f"upstream in {gone.first_without} ({gone.what})",
        action="; or ".join((_pin(), *_other_backend(version, recipe))),
    )


def _no_builder(version: Version, why: str, recipe: Recipe | None) -> Problem:
    cure = f"reinstall it: {pip_install(version.public)}, or put trtllm-build on PATH"
    return Problem(
        f"this TensorRT-LLM {version} has no builder: {why}; the engine path was "
        f"removed upstream in {removal().first_without}, but {version} should have it",
        action="; or ".join((cure, _pin(), *_other_backend(version, recipe))),
    )


def _other_backend(version: Version, recipe: Recipe | None) -> Iterator[str]:
    """Say what becomes of the recipe on backend pytorch."""
    if recipe is None:
        return
    method = recipe.speculation.method
    where = "backend pytorch"
    if not contains(PYTORCH_BACKEND, version):
        where += f" (TensorRT-LLM {PYTORCH_BACKEND})"
    rewritten = pytorch_recipe(recipe)
    if rewritten is not None:
        go_on = f"rewrite the recipe for {where}, which has method {method} too"
        yaml = textwrap.indent(dump_recipe(rewritten).rstrip(), _YAML_INDENT)
        yield "; ".join((go_on, *rewriting_notes(recipe))) + ":\n" + yaml
    elif method in ALTERNATIVES:
        instead = ALTERNATIVES[method]
        yield (
            f"take another method: method {method} has no equivalent on {where}: "
            f"{instead.why}. Take there {instead.take}"
        )

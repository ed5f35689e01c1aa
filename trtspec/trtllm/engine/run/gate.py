"""Which rules hold for which engine: all of them, before anything is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from packaging.version import Version

from trtspec.errors import BackendUnavailableError, RunError, TrtspecError
from trtspec.recipe.schema import Recipe
from trtspec.trtllm import facts
from trtspec.trtllm.engine.run.demands import Place, RuleId, demands
from trtspec.trtllm.engine.run.load import Engines
from trtspec.trtllm.installation import Installation


def require_executor(installation: Installation) -> Version:
    """Refuse a machine without TensorRT-LLM's executor; give the version.

    :raises BackendUnavailableError: saying what to do.
    """
    version = installation.version
    if version is None or installation.assumed or not installation.executor:
        reason = installation.why_absent("executor")
        raise BackendUnavailableError(
            "there is no TensorRT-LLM executor here" + (reason and f": {reason}"),
            where="installation",
            allowed=f"TensorRT-LLM {facts.backend_range()}",
            action="run in NVIDIA's TensorRT-LLM image; trtspec doctor says what is "
            "missing",
        )
    return version


def visible_gpus(installed: int, environment: Mapping[str, str]) -> int:
    """Count the GPUs that a process sees.

    :param installed: GPUs of the machine.
    """
    listed = environment.get("CUDA_VISIBLE_DEVICES")
    if listed is None:
        return installed
    names = [name.strip() for name in listed.split(",")]
    shown = next((i for i, n in enumerate(names) if n in ("", "-1")), len(names))
    return min(shown, installed)


class Fault(NamedTuple):
    """One reason why engines cannot run.

    :param rule: name of the rule of ``check`` that finds it too.
    """

    rule: RuleId
    error: TrtspecError


def require_runnable(
    recipe: Recipe,
    engines: Engines,
    installation: Installation,
    environment: Mapping[str, str],
) -> None:
    """Refuse what cannot run here, all of it at once; nothing has been loaded yet.

    :param environment: this process's, which may hide GPUs.
    :raises RunError: naming the engine, its value, and what is allowed.
    :raises BackendUnavailableError: if this machine lacks something.
    """
    version = require_executor(installation)
    gpus = installation.gpus
    visible = visible_gpus(len(gpus), environment)
    place = Place(version, gpus, visible, installation.worker)
    found = [fault.error for fault in faults(recipe, engines, place)]
    if found:
        wrong = any(isinstance(error, RunError) for error in found)
        kind = RunError if wrong else BackendUnavailableError
        raise kind.from_problems(p for error in found for p in error.problems)


def faults(recipe: Recipe, engines: Engines, place: Place) -> Iterator[Fault]:
    """Say all that keeps engines from running in a place."""
    for rule, holds in demands(recipe, engines, place):
        try:
            holds()
        except TrtspecError as error:
            yield Fault(rule, error)

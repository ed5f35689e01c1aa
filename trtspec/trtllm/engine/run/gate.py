"""Which rules hold for which engine: all of them, before anything is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from packaging.version import Version

from trtspec.errors import BackendUnavailableError
from trtspec.methods import DraftTarget, Method
from trtspec.recipe.schema import Recipe
from trtspec.trtllm import facts
from trtspec.trtllm.engine.engine_config import EngineConfig
from trtspec.trtllm.engine.run import gate_drafts, gate_engine
from trtspec.trtllm.engine.run.admission import drafts_from_outside
from trtspec.trtllm.engine.run.load import DRAFT, TARGET, Engines, engine_name
from trtspec.trtllm.installation import Installation

_TARGET, _DRAFT = engine_name(TARGET), engine_name(DRAFT)


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


def require_worker(worker: object | None) -> None:
    """Refuse several engines or ranks without the program that runs them."""
    if worker is None:
        raise BackendUnavailableError(
            "bin/executorWorker of TensorRT-LLM was not found",
            where="installation",
            allowed="an installation that has it: two engines, or several GPUs, run in "
            "worker processes",
            action="run in NVIDIA's TensorRT-LLM image",
        )


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


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an engine is to run.

    :param gpus: those that are visible.
    """

    recipe: Recipe
    version: Version
    gpus: int


def require_runnable(
    recipe: Recipe,
    engines: Engines,
    installation: Installation,
    environment: Mapping[str, str],
) -> None:
    """Refuse what cannot run here; nothing has been loaded yet.

    :param environment: this process's, which may hide GPUs.
    :raises RunError: naming the engine, its value, and what is allowed.
    :raises BackendUnavailableError: if this machine lacks something.
    """
    version, method = require_executor(installation), recipe.speculation
    gpus = visible_gpus(len(installation.gpus), environment)
    place, (target, draft) = _Place(recipe, version, gpus), engines
    _require_target(place, target, method)
    if drafts_from_outside(method):
        gate_drafts.require_block_reuse(target, installation.gpus, _TARGET)
    if isinstance(method, DraftTarget):
        assert draft is not None, "a draft_target artifact has a draft engine"
        _require_draft(place, target, draft, method)
    if draft is not None or target.tp_size > 1:
        require_worker(installation.worker)


def _require_target(place: _Place, target: EngineConfig, method: Method) -> None:
    limits = place.recipe.limits
    outside = drafts_from_outside(method)
    longest = limits.max_total_tokens - 1 if outside else limits.max_input_tokens
    gate_engine.require_mode(target, *gate_engine.engine_mode(method), where=_TARGET)
    gate_engine.require_version(target, place.version, _TARGET)
    gate_engine.require_capacity(target, method, _TARGET)
    gate_engine.require_sizes(target, limits, longest, _TARGET)
    gate_engine.require_beam(target, _TARGET)
    ranks = place.recipe.target.tensor_parallel
    gate_engine.require_parallel(target, ranks, place.gpus, _TARGET)
    gate_drafts.require_shape(target, method, _TARGET)
    gate_drafts.require_dynamic_tree(method, place.version)


def _require_draft(
    place: _Place, target: EngineConfig, draft: EngineConfig, method: DraftTarget
) -> None:
    limits = place.recipe.limits
    gate_engine.require_mode(draft, *gate_engine.plain_mode(), where=_DRAFT)
    gate_engine.require_version(draft, place.version, _DRAFT)
    gate_engine.require_sizes(draft, limits, limits.max_total_tokens - 1, _DRAFT)
    gate_engine.require_beam(draft, _DRAFT)
    gate_engine.require_parallel(draft, method.tensor_parallel, place.gpus, _DRAFT)
    if method.use_draft_logits:
        gate_drafts.require_logits(target, draft, place.version)

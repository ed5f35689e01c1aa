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
from trtspec.trtllm.engine.run import gate, gate_external, gate_trees
from trtspec.trtllm.engine.run.admission import drafts_from_outside
from trtspec.trtllm.engine.run.settings import Engines
from trtspec.trtllm.installation import Installation

TARGET, DRAFT = "target engine", "draft engine"


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
    *,
    block_reuse: bool,
    environment: Mapping[str, str],
) -> None:
    """Refuse what cannot run here; nothing has been loaded yet.

    :param block_reuse: whether the KV cache will be loaded with reuse of its blocks.
    :param environment: this process's, which may hide GPUs.
    :raises RunError: naming the engine, its value, and what is allowed.
    :raises BackendUnavailableError: if this machine lacks something.
    """
    version, method = require_executor(installation), recipe.speculation
    gpus = gate.visible_gpus(len(installation.gpus), environment)
    place, (target, draft) = _Place(recipe, version, gpus), engines
    _require_target(place, target, method)
    if drafts_from_outside(method):
        gate_external.require_block_reuse(
            target, block_reuse=block_reuse, gpus=installation.gpus, where=TARGET
        )
    if isinstance(method, DraftTarget):
        assert draft is not None, "a draft_target artifact has a draft engine"
        _require_draft(place, target, draft, method)
    if draft is not None or target.tp_size > 1:
        gate_external.require_worker(installation.worker)


def _require_target(place: _Place, target: EngineConfig, method: Method) -> None:
    limits = place.recipe.limits
    outside = drafts_from_outside(method)
    longest = limits.max_total_tokens - 1 if outside else limits.max_input_tokens
    gate.require_mode(target, *gate.engine_mode(method), where=TARGET)
    gate.require_version(target, place.version, TARGET)
    gate.require_capacity(target, method, TARGET)
    gate.require_sizes(target, limits, longest, TARGET)
    gate.require_beam(target, TARGET)
    ranks = place.recipe.target.tensor_parallel
    gate.require_parallel(target, ranks, place.gpus, TARGET)
    gate_trees.require_shape(target, method, TARGET)
    gate_trees.require_dynamic_tree(method, place.version)


def _require_draft(
    place: _Place, target: EngineConfig, draft: EngineConfig, method: DraftTarget
) -> None:
    limits = place.recipe.limits
    gate.require_mode(draft, *gate.plain_mode(), where=DRAFT)
    gate.require_version(draft, place.version, DRAFT)
    gate.require_sizes(draft, limits, limits.max_total_tokens - 1, DRAFT)
    gate.require_beam(draft, DRAFT)
    gate.require_parallel(draft, method.tensor_parallel, place.gpus, DRAFT)
    if method.use_draft_logits:
        gate_external.require_logits(target, draft, place.version)

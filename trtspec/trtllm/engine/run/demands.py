"""What engines have to meet to run here: each demand with the rule that names it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from packaging.version import Version

from trtspec.errors import BackendUnavailableError
from trtspec.gpus import Gpu
from trtspec.methods import DraftTarget
from trtspec.recipe.schema import Limits, Recipe
from trtspec.trtllm.engine.engine_config import EngineConfig
from trtspec.trtllm.engine.run import gate_drafts, gate_engine
from trtspec.trtllm.engine.run.admission import drafts_from_outside
from trtspec.trtllm.engine.run.load import DRAFT, TARGET, Engines, engine_name

_TARGET, _DRAFT = engine_name(TARGET), engine_name(DRAFT)

RuleId = Literal[
    "engine-mode",
    "engine-version",
    "engine-gpu",
    "engine-drafts",
    "engine-sizes",
    "engine-beams",
    "engine-parallel",
    "engine-tree",
    "engine-cache",
    "engine-logits",
    "engine-worker",
]
Demand = tuple[RuleId, Callable[[], None]]
"""The rule that names a demand, and what raises if it is not met."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where engines are to run.

    :param gpus: all of the machine's, or those that stand for them.
    :param visible: how many of them this process sees.
    :param worker: executable of worker processes; None if it is not here.
    """

    version: Version
    gpus: Sequence[Gpu]
    visible: int
    worker: object | None


def demands(recipe: Recipe, engines: Engines, place: Place) -> Iterator[Demand]:
    """Give everything that engines have to meet to run in a place."""
    method, draft = recipe.speculation, engines.draft
    yield from _target_demands(recipe, engines, place)
    if drafts_from_outside(method):
        yield (
            "engine-cache",
            partial(
                gate_drafts.require_block_reuse, engines.target, place.gpus, _TARGET
            ),
        )
    if isinstance(method, DraftTarget):
        assert draft is not None, "a draft_target artifact has a draft engine"
        yield from _draft_demands(recipe, engines, place, draft, method)
    if draft is not None or engines.target.tp_size > 1:
        yield "engine-worker", partial(require_worker, place.worker)


def _target_demands(recipe: Recipe, engines: Engines, place: Place) -> Iterator[Demand]:
    target, limits, method = engines.target, recipe.limits, recipe.speculation
    outside = drafts_from_outside(method)
    longest = limits.max_total_tokens - 1 if outside else limits.max_input_tokens
    name, bit = gate_engine.engine_mode(method)
    ranks = recipe.target.tensor_parallel
    yield (
        "engine-mode",
        partial(gate_engine.require_mode, target, name, bit, where=_TARGET),
    )
    yield from _engine_demands(target, limits, longest, ranks, place, where=_TARGET)
    yield (
        "engine-gpu",
        partial(gate_engine.require_gpu, engines.capability, place.gpus, _TARGET),
    )
    yield (
        "engine-drafts",
        partial(gate_engine.require_capacity, target, method, _TARGET),
    )
    yield "engine-tree", partial(gate_drafts.require_shape, target, method, _TARGET)
    yield (
        "engine-tree",
        partial(gate_drafts.require_dynamic_tree, method, place.version),
    )


def _engine_demands(
    engine: EngineConfig,
    limits: Limits,
    longest: int,
    ranks: int,
    place: Place,
    *,
    where: str,
) -> Iterator[Demand]:
    """Give what holds for the engine of target and draft model alike.

    :param longest: tokens that a request may begin with.
    :param ranks: GPUs that share it.
    """
    yield (
        "engine-version",
        partial(gate_engine.require_version, engine, place.version, where),
    )
    yield (
        "engine-sizes",
        partial(gate_engine.require_sizes, engine, limits, longest, where),
    )
    yield "engine-beams", partial(gate_engine.require_beam, engine, where)
    yield (
        "engine-parallel",
        partial(gate_engine.require_parallel, engine, ranks, place.visible, where),
    )


def _draft_demands(
    recipe: Recipe,
    engines: Engines,
    place: Place,
    draft: EngineConfig,
    method: DraftTarget,
) -> Iterator[Demand]:
    limits, ranks = recipe.limits, method.tensor_parallel
    longest = limits.max_total_tokens - 1
    name, bit = gate_engine.plain_mode()
    yield (
        "engine-mode",
        partial(gate_engine.require_mode, draft, name, bit, where=_DRAFT),
    )
    yield from _engine_demands(draft, limits, longest, ranks, place, where=_DRAFT)
    if method.use_draft_logits:
        yield (
            "engine-logits",
            partial(gate_drafts.require_logits, engines.target, draft, place.version),
        )


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

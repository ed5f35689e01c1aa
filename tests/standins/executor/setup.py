"""Which executor configurations fit an engine and the machine?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tests.standins.executor.engine import Engine
from tests.standins.executor.values import require
from tests.standins.executor.words import BatchingType, CommunicationMode
from tests.standins.machine import Machine
from tests.standins.voice import say

VERIFY_TREES = {"medusa", "eagle", "lookahead_decoding"}
NEED_FUSION = {"eagle", "explicit_draft_tokens", "lookahead_decoding"}


def is_orchestrator(config: Any) -> bool:
    """Whether an executor runs its model in other processes."""
    parallel = config.parallel_config
    return (
        parallel is not None
        and parallel.communication_mode is CommunicationMode.ORCHESTRATOR
        and parallel.orchestrator_config is not None
        and parallel.orchestrator_config.is_orchestrator
    )


def require_processes(config: Any, engine: Engine, machine: Machine) -> None:
    """Refuse device lists and process layouts that cannot hold the engine."""
    parallel, size = config.parallel_config, engine.world_size
    if parallel is not None and parallel.device_ids is not None:
        devices = parallel.device_ids
        require(len(devices) == size, f"device_ids {devices} for {size} ranks")
        require(
            max(devices) < machine.gpus, f"device_ids {devices}, {machine.gpus} GPUs"
        )
    if is_orchestrator(config):
        worker = Path(parallel.orchestrator_config.worker_executable_path)
        there = worker.is_file() and os.access(worker, os.X_OK)
        require(there, f"MPI_Comm_spawn failed: no worker executable at '{worker}'")
        return
    orchestrated = parallel is not None and (
        parallel.communication_mode is CommunicationMode.ORCHESTRATOR
    )
    require(not orchestrated, "orchestrator mode needs an orchestrator_config")
    processes = int(os.environ.get("OMPI_COMM_WORLD_SIZE", "1"))
    require(processes == size, f"mpiSize == tp * pp * cp ({processes} != {size})")


def require_sizes(config: Any, engine: Engine, machine: Machine) -> None:
    """Refuse sizes above the built ones, and what needs paged context FMHA."""
    for name in ("max_batch_size", "max_beam_width", "max_num_tokens"):
        asked, built = getattr(config, name), int(engine.build[name])
        require(
            asked is None or asked <= built,
            f"{name} {asked} must not exceed the engine's {name} {built}",
        )
    if engine.mode_name != "none":
        one = config.max_beam_width == 1
        require(one, "Can't use speculative decoding with beam search.")
        fused = config.batching_type is BatchingType.INFLIGHT
        require(
            fused or engine.mode_name not in NEED_FUSION,
            "Current speculative decoding mode requires context-gen fusion IFB",
        )
    kernels = machine.capability >= 80 or engine.mode_name not in VERIFY_TREES
    require(
        kernels, "No available XQA kernels are found for speculative decoding mode."
    )
    paged = engine.paged_context_fmha
    chunked = config.enable_chunked_context and not paged
    require(not chunked, "chunked context needs paged context FMHA")
    kv_cache = config.kv_cache_config
    onboard = getattr(kv_cache, "onboard_blocks", True)
    require(
        onboard or not paged, "KV cache blocks need to be onboarded if context FMHA."
    )
    if engine.mode_name == "draft_tokens_external":
        require(
            block_reuse(config, engine),
            "KV cache block reuse must be enabled for speculative decoding target "
            "model",
        )


def block_reuse(config: Any, engine: Engine) -> bool:
    """Whether KV blocks are reused, after what the engine switches off."""
    if not config.kv_cache_config.enable_block_reuse:
        return False
    if not engine.paged_context_fmha or engine.build["gather_context_logits"]:
        say("[TensorRT-LLM][WARNING] KV cache block reuse is disabled")
        return False
    return True

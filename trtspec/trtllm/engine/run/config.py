"""The executor's own words for how an engine is loaded, and how it drafts."""

from __future__ import annotations

from typing import Any

from trtspec.methods import Eagle, Lookahead, Medusa, Method, tree_paths
from trtspec.trtllm.engine.run.bindings import Bindings
from trtspec.trtllm.engine.run.load import GATHER_LOGITS, CacheSettings, LoadSettings


def executor_config(bindings: Bindings, settings: LoadSettings) -> Any:
    """Say the settings in the executor's words."""
    more: dict[str, Any] = {}
    if settings.method is not None:
        decoding = decoding_config(bindings, settings.method)
        more = {} if decoding is None else {"decoding_config": decoding}
    if settings.gather_logits:
        more[GATHER_LOGITS] = True
    return bindings.make(
        "ExecutorConfig",
        max_beam_width=1,
        max_batch_size=settings.batch,
        kv_cache_config=_cache_config(bindings, settings.cache),
        parallel_config=_parallel_config(bindings, settings),
        **more,
    )


def _cache_config(bindings: Bindings, cache: CacheSettings) -> Any:
    most = {} if cache.max_tokens is None else {"max_tokens": cache.max_tokens}
    return bindings.make(
        "KvCacheConfig",
        enable_block_reuse=cache.block_reuse,
        free_gpu_memory_fraction=cache.fraction,
        **most,
    )


def _parallel_config(bindings: Bindings, settings: LoadSettings) -> Any:
    modes = bindings.module.CommunicationMode
    more: dict[str, Any] = {"communication_mode": modes.LEADER}
    if settings.worker is not None:
        more["communication_mode"] = modes.ORCHESTRATOR
        more["orchestrator_config"] = bindings.make(
            "OrchestratorConfig",
            is_orchestrator=True,
            worker_executable_path=str(settings.worker),
        )
    return bindings.make(
        "ParallelConfig",
        communication_type=bindings.module.CommunicationType.MPI,
        device_ids=list(settings.devices),
        **more,
    )


def decoding_config(bindings: Bindings, method: Method) -> Any | None:
    """Configure an engine's own drafter; None where everything is fixed at build."""
    modes = bindings.module.DecodingMode
    if isinstance(method, Medusa):
        return bindings.make(
            "DecodingConfig",
            decoding_mode=modes.Medusa(),
            medusa_choices=_choices(method),
        )
    if isinstance(method, Eagle):
        return bindings.make(
            "DecodingConfig",
            decoding_mode=modes.Eagle(),
            eagle_config=_eagle_config(bindings, method),
        )
    if isinstance(method, Lookahead):
        sizes = bindings.make(
            "LookaheadDecodingConfig",
            max_window_size=method.window_size,
            max_ngram_size=method.ngram_size,
            max_verification_set_size=method.verification_set_size,
        )
        return bindings.make(
            "DecodingConfig",
            decoding_mode=modes.Lookahead(),
            lookahead_decoding_config=sizes,
        )
    return None


def _eagle_config(bindings: Bindings, method: Eagle) -> Any:
    """Give a fixed tree (EAGLE-1) or none (EAGLE-2); greedy without a threshold."""
    arguments: dict[str, Any] = {"greedy_sampling": method.posterior_threshold is None}
    if method.posterior_threshold is not None:
        arguments["posterior_threshold"] = method.posterior_threshold
    if method.is_dynamic:
        arguments["use_dynamic_tree"] = True
        arguments["dynamic_tree_max_topK"] = method.dynamic_top_k
    else:
        arguments["eagle_choices"] = _choices(method)
    return bindings.make("EagleConfig", **arguments)


def _choices(method: Medusa | Eagle) -> list[list[int]]:
    return [list(path) for path in tree_paths(method.tree)]

"""What decides how fast an engine runner is, for the record of a measurement."""

from __future__ import annotations

from collections.abc import Mapping

from trtspec.methods import Method
from trtspec.trtllm.engine.engine_config import EngineConfig
from trtspec.trtllm.engine.run.acceptance import has_metrics
from trtspec.trtllm.engine.run.admission import drafts_from_outside
from trtspec.trtllm.engine.run.bindings import Bindings
from trtspec.trtllm.engine.run.settings import Loaded, LoadSettings
from trtspec.trtllm.installation import Installation


def conditions(
    installation: Installation,
    bindings: Bindings,
    method: Method,
    loaded: Mapping[str, Loaded],
) -> dict[str, object]:
    """Describe a runner.

    :param loaded: its engines by role: target, draft.
    """
    outside, metrics = drafts_from_outside(method), has_metrics(bindings)
    return {
        "backend": "tensorrt",
        "tensorrt_llm": str(installation.version),
        "tensorrt": installation.tensorrt,
        "cuda": installation.cuda,
        "driver": installation.driver,
        "gpus": [gpu.name for gpu in installation.gpus],
        "engines": {role: _engine_conditions(*one) for role, one in loaded.items()},
        "worker_processes": any(one.settings.worker for one in loaded.values()),
        "acceptance_counted_by": "trtspec" if outside else "TensorRT-LLM",
        "drafted_tokens_known": outside or metrics or method.method == "none",
    }


def _engine_conditions(
    engine: EngineConfig, settings: LoadSettings
) -> dict[str, object]:
    """Say how an engine was built and loaded; lengths in tokens."""
    return {
        "speculative_decoding_mode": engine.mode,
        "max_draft_len": engine.max_draft_len,
        "max_batch_size": engine.max_batch_size,
        "max_input_len": engine.max_input_len,
        "max_seq_len": engine.max_seq_len,
        "max_num_tokens": engine.max_num_tokens,
        "quantization": engine.quant,
        "dtype": engine.dtype,
        "devices": list(settings.devices),
        "kv_cache": {
            "quantization": engine.kv_cache_quant,
            "free_gpu_memory_fraction": settings.cache.fraction,
            "max_tokens": settings.cache.max_tokens,
            "block_reuse": settings.cache.block_reuse,
        },
    }

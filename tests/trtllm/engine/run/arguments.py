"""What the real classes take of what trtspec passes, and since which version.

Written down apart from the facts, so that a fact that is wrong does not go unnoticed.
"""

from __future__ import annotations

from typing import Any

from packaging.version import Version

ARGUMENTS = {
    "ExecutorConfig": {
        "max_beam_width": "0.17",
        "max_batch_size": "0.17",
        "kv_cache_config": "0.17",
        "parallel_config": "0.17",
        "decoding_config": "0.17",
        "gather_generation_logits": "1.1",
    },
    "KvCacheConfig": {
        "enable_block_reuse": "0.17",
        "max_tokens": "0.17",
        "free_gpu_memory_fraction": "0.17",
    },
    "ParallelConfig": {
        "communication_type": "0.17",
        "communication_mode": "0.17",
        "device_ids": "0.17",
        "orchestrator_config": "0.17",
    },
    "OrchestratorConfig": {
        "is_orchestrator": "0.17",
        "worker_executable_path": "0.17",
    },
    "DecodingConfig": {
        "decoding_mode": "0.17",
        "lookahead_decoding_config": "0.17",
        "medusa_choices": "0.17",
        "eagle_config": "0.17",
    },
    "EagleConfig": {
        "eagle_choices": "0.17",
        "greedy_sampling": "0.17",
        "posterior_threshold": "0.17",
        "use_dynamic_tree": "0.19",
        "dynamic_tree_max_topK": "0.19",
    },
    "LookaheadDecodingConfig": {
        "max_window_size": "0.17",
        "max_ngram_size": "0.17",
        "max_verification_set_size": "0.17",
    },
    "Request": {
        "input_token_ids": "0.17",
        "max_tokens": "0.17",
        "streaming": "0.17",
        "sampling_config": "0.17",
        "output_config": "0.17",
        "end_id": "0.17",
        "stop_words": "0.17",
        "external_draft_tokens_config": "0.17",
        "lookahead_config": "0.17",
    },
    "OutputConfig": {
        "exclude_input_from_output": "0.17",
        "return_generation_logits": "0.17",
        "return_perf_metrics": "0.17",
    },
    "SamplingConfig": {
        "beam_width": "0.17",
        "top_k": "0.17",
        "top_p": "0.17",
        "seed": "0.17",
        "temperature": "0.17",
    },
    "ExternalDraftTokensConfig": {"tokens": "0.17", "logits": "0.17"},
}


class Made:
    """An object of a binding class: what it was made of, None for the rest."""

    def __init__(self, class_name: str, version: Version, **arguments: Any) -> None:
        since = ARGUMENTS[class_name]
        for name in arguments:
            there = name in since and version >= Version(since[name])
            if not there:  # as pybind11 does
                raise TypeError(f"{class_name}(): incompatible arguments: {name}")
        self.class_name, self.arguments = class_name, arguments

    def __getattr__(self, name: str) -> Any:
        return self.arguments.get(name)

"""Where a recipe says what a key of the LLM API's YAML would say."""

from __future__ import annotations

from trtspec.trtllm.pytorch.settings import Path

_NEVER = {
    "model": "it is the artifact's target folder",
    "tokenizer": "it is the target's",
    "revision": "write target.revision",
    "backend": "it is pytorch",
    "trust_remote_code": "checkpoints that need code of their own are not run",
    "max_beam_width": "speculation has no beam search",
    "quant_config": "write target.quantization",
    "load_format": "weights are loaded as they are",
    "orchestrator_type": "processes are started by trtspec's launcher",
}
NOT_WITH_SPECULATION = {
    "pipeline_parallel_size": "pipeline_parallel",
    "context_parallel_size": "context_parallel",
}
"""Key that has to be 1 where something is drafted → its feature in the facts."""
_TOP = {
    "dtype": "target.dtype",
    "tensor_parallel_size": "target.tensor_parallel",
    "moe_expert_parallel_size": "pytorch.expert_parallel",
    "gpus_per_node": "pytorch.gpus_per_node",
    "enable_attention_dp": "pytorch.attention_dp",
    "max_batch_size": "limits.max_batch_size",
    "max_num_tokens": "pytorch.max_num_tokens",
    "max_input_len": "limits.max_input_tokens",
    "max_seq_len": "limits.max_total_tokens",
    "enable_chunked_prefill": "pytorch.chunked_prefill",
    "disable_overlap_scheduler": "pytorch.overlap_scheduler",
    "guided_decoding_backend": "pytorch.guided_decoding",
    "attn_backend": "pytorch.attention_backend",
}
_BELOW = {
    ("kv_cache_config", "free_gpu_memory_fraction"): "limits.kv_cache_fraction",
    ("kv_cache_config", "enable_block_reuse"): "pytorch.block_reuse",
    ("kv_cache_config", "dtype"): "pytorch.kv_cache",
    ("cuda_graph_config", "batch_sizes"): "pytorch.cuda_graph_batch_sizes",
    ("cuda_graph_config", "max_batch_size"): "limits.max_batch_size",
    ("moe_config", "backend"): "pytorch.moe_backend",
}
_SPECULATION = {
    "decoding_type": "method",
    "max_draft_len": "draft_length",
    "num_nextn_predict_layers": "draft_length",
    "draft_len_schedule": "draft_length",
    "max_concurrency": "draft_length",
    "speculative_model": "model",
    "speculative_model_dir": "model",
    "max_matching_ngram_size": "max_matching_ngram",
    "max_total_draft_tokens": "tree_tokens",
    "use_dynamic_tree": "tree",
    "dynamic_tree_max_topK": "tree_top_k",
    "eagle_choices": "tree",
    "eagle3_one_model": "two_model",
    "eagle3_layers_to_capture": "layers_to_capture",
    "allow_advanced_sampling": "method",
    "use_rejection_sampling": "rejection_sampling",
    "use_relaxed_acceptance_for_thinking": "acceptance",
    "relaxed_topk": "relaxed_top_k",
    "relaxed_delta": "relaxed_delta",
    "use_mtp_vanilla": "vanilla",
    "begin_thinking_phase_token": "thinking_tokens",
    "end_thinking_phase_token": "thinking_tokens",
    "enable_global_pool": "global_pool",
    "global_pool_size": "global_pool_size",
    "mask_token_id": "mask_token_id",
    "target_layer_ids": "target_layers",
    "sa_config": "suffix_threshold",
    "drafter": "drafter",
    "resource_manager": "resource_manager",
}
_GATE = (
    "acceptance_window",
    "acceptance_length_threshold",
    "acceptance_rate_window_size",
    "acceptance_rate_threshold",
)


def word_for(path: Path) -> str:
    """Say what to do in place of writing a key in ``pytorch.llm_args``.

    :param path: the keys that lead to it; empty strings never occur.
    :returns: the advice; empty if the recipe has no word for it.
    """
    key = path[-1]
    if len(path) == 1:
        if key in _NEVER:
            return _NEVER[key]
        return f"write {_TOP[key]}" if key in _TOP else ""
    if path[0] == "speculative_config":
        return _speculation_word(key)
    return f"write {_BELOW[path]}" if path in _BELOW else ""


def is_refused_key(key: str) -> bool:
    """Whether a key at the top is refused next to speculation wherever it stands."""
    return bool(key) and (key in NOT_WITH_SPECULATION or bool(word_for((key,))))


def recipe_key(path: Path) -> Path:
    """Give the recipe's key for a key of the YAML; ``pytorch.llm_args`` without one.

    :param path: the keys that lead to it.
    """
    if len(path) == 1 and path[0] in _TOP:
        return tuple(_TOP[path[0]].split("."))
    if path in _BELOW:
        return tuple(_BELOW[path].split("."))
    if path[0] == "speculative_config" and path[-1] in _SPECULATION:
        return ("speculation", _SPECULATION[path[-1]])
    return ("pytorch", "llm_args")


def _speculation_word(key: str) -> str:
    if key in _GATE:
        return "write pytorch.acceptance_gate"
    if key == "enable_penalty":
        return "write pytorch.penalties"
    word = _SPECULATION.get(key.lower(), _SPECULATION.get(key))
    return f"write speculation.{word}" if word else ""

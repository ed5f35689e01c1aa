"""Which known word somebody meant who wrote an unknown one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_ALIKE = 0.6

_OTHER_NAMES = {
    # names that TensorRT-LLM, vLLM and transformers use for the same thing
    "tree": "medusa_choices eagle_choices",
    "num_heads": "num_medusa_heads medusa_num_heads",
    "num_layers": "num_eagle_layers num_medusa_layers",
    "dynamic_top_k": "eagle_dynamic_tree_max_top_k dynamic_tree_max_topk",
    "posterior_threshold": "eagle_posterior_threshold",
    "num_beams": "redrafter_num_beams",
    "draft_length_per_beam": "redrafter_draft_len_per_beam",
    "window_size": "max_window_size lookahead_window_size",
    "verification_set_size": "max_verification_set_size",
    "tree_top_k": "dynamic_tree_max_topk eagle_topk speculative_eagle_topk",
    "tree_tokens": "max_total_draft_tokens speculative_num_draft_tokens",
    "layers_to_capture": "eagle3_layers_to_capture",
    "two_model": "eagle3_one_model",
    "rejection_sampling": "use_rejection_sampling",
    "suffix_threshold": "sa_config sa_spec_threshold",
    "relaxed_top_k": "relaxed_topk",
    "vanilla": "use_mtp_vanilla",
    "global_pool": "enable_global_pool",
    "target_layers": "target_layer_ids",
    "kv_cache": "kv_cache_dtype kv_cache_type kv_cache_quantization",
    "calibration_dataset": "calib_dataset",
    "calibration_samples": "calib_size",
    "family": "model_type architecture",
    "draft_length": "num_speculative_tokens max_draft_len num_draft_tokens gamma k "
    "num_nextn_predict_layers draft_len_schedule",
    "model": "speculative_model draft_model assistant_model model_dir checkpoint",
    "max_matching_ngram": "max_matching_ngram_size prompt_lookup_max ngram_size",
    "max_total_tokens": "max_seq_len max_model_len",
    "max_input_tokens": "max_input_len max_prompt_len",
    "max_batch_size": "max_num_seqs batch_size",
    "kv_cache_fraction": "free_gpu_memory_fraction gpu_memory_utilization",
    "tensor_parallel": "tp tp_size tensor_parallel_size",
    "output_tokens": "max_tokens max_new_tokens max_output_tokens",
    "method": "decoding_type algorithm type",
    "dtype": "torch_dtype precision",
    "chunked_prefill": "enable_chunked_prefill enable_chunked_context",
    "block_reuse": "enable_block_reuse",
    "expert_parallel": "moe_expert_parallel_size ep_size ep",
    "attention_dp": "enable_attention_dp",
    "attention_backend": "attn_backend",
    "guided_decoding": "guided_decoding_backend",
    "penalties": "enable_penalty",
    "float32": "fp32 float",
    "float16": "fp16 half",
    "bfloat16": "bf16",
    "int4_awq": "awq w4a16_awq",
    "int8_sq": "smoothquant sq w8a8",
    "int8_wo": "weight_only w8a16",
    "none": "off false no null",
    "ngram": "prompt_lookup prompt_lookup_decoding",
    "draft_target": "draft draft_target_model draft_tokens_external assisted",
    "eagle3": "eagle_3",
    "mtp": "nextn multi_token_prediction mtp_eagle deepseek_mtp",
    "suffix": "sa suffix_automaton suffix_decoding",
    "user": "user_provided userprovided custom",
    "redrafter": "explicit_draft_tokens",
    "lookahead": "lookahead_decoding",
    "reference": "cpu hf transformers",
    "pytorch": "torch",
    "tensorrt": "trt tensorrt_llm engine",
}


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Give the known word that is meant, by another tool's name for it or by spelling.

    >>> nearest("max-batchsize", ["max_batch_size", "max_input_tokens"])
    'max_batch_size'
    """
    names = list(known)
    plain = _plain(word)
    if plain in names:
        return plain
    if other := other_name(word, names):
        return other
    return next(iter(get_close_matches(plain, names, n=1, cutoff=_ALIKE)), None)


def other_name(word: str, known: Iterable[str]) -> str | None:
    """Give the known word that another tool calls by this one.

    >>> other_name("fp16", ["float32", "float16"])
    'float16'
    """
    plain = _plain(word)
    return next(
        (name for name in known if plain in _OTHER_NAMES.get(name, "").split()), None
    )


def _plain(word: str) -> str:
    return word.strip().lower().replace("-", "_").replace(" ", "_")

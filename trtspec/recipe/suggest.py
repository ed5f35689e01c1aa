"""Which known word somebody meant who wrote an unknown one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_ALIKE = 0.6

_OTHER_NAMES = {
    # names that TensorRT-LLM, vLLM and transformers use for the same thing
    "draft_length": "num_speculative_tokens max_draft_len num_draft_tokens gamma k",
    "model": "speculative_model draft_model assistant_model model_dir checkpoint",
    "max_matching_ngram": "max_matching_ngram_size prompt_lookup_max ngram_size",
    "max_total_tokens": "max_seq_len max_model_len max_num_tokens",
    "max_input_tokens": "max_input_len max_prompt_len",
    "max_batch_size": "max_num_seqs batch_size",
    "kv_cache_fraction": "free_gpu_memory_fraction gpu_memory_utilization",
    "tensor_parallel": "tp tp_size tensor_parallel_size",
    "output_tokens": "max_tokens max_new_tokens max_output_tokens",
    "method": "decoding_type algorithm type",
    "dtype": "torch_dtype precision",
    "float32": "fp32 float",
    "float16": "fp16 half",
    "bfloat16": "bf16",
    "int4_awq": "awq w4a16_awq",
    "none": "off false no null",
    "ngram": "prompt_lookup prompt_lookup_decoding",
    "draft_target": "draft draft_target_model assisted",
    "reference": "cpu hf transformers",
    "pytorch": "torch",
    "tensorrt": "trt tensorrt_llm engine",
}
_KNOWN_AS = {
    other: name for name, others in _OTHER_NAMES.items() for other in others.split()
}


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Give the known word that is meant, by another tool's name for it or by spelling.

    >>> nearest("max-batchsize", ["max_batch_size", "max_input_tokens"])
    'max_batch_size'
    """
    names = list(known)
    plain = word.strip().lower().replace("-", "_").replace(" ", "_")
    if plain in names:
        return plain
    if _KNOWN_AS.get(plain) in names:
        return _KNOWN_AS[plain]
    return next(iter(get_close_matches(plain, names, n=1, cutoff=_ALIKE)), None)

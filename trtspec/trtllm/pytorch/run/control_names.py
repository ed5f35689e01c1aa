"""Which sampling controls TensorRT-LLM has, and of what kind each one's value is.

The names are the fields of ``tensorrt_llm.SamplingParams``
(tensorrt_llm/sampling_params.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from trtspec.trtllm.pytorch.run.sampling import GUIDES


class Kind(NamedTuple):
    """What a value must be.

    :param words: in words, for messages.
    :param accepts: whether a value is one.
    """

    words: str
    accepts: Callable[[Any], bool]


_MOST = 2**31 - 1
"""TensorRT-LLM keeps counts and token ids in 32 bits, as it does numbers."""
_LARGEST = 3.4028234663852886e38


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value <= _MOST


def _is_number(value: Any) -> bool:
    is_one = isinstance(value, int | float) and not isinstance(value, bool)
    return is_one and abs(value) <= _LARGEST  # neither infinite nor NaN


def _all(value: Any, accepts: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and bool(value) and all(map(accepts, value))


def _is_guide(value: Any) -> bool:
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    kind, rule = next(iter(value.items()))
    if kind == "json_object":
        return rule is True
    kinds = (str, dict) if kind == "json" else str
    return kind in GUIDES and isinstance(rule, kinds) and bool(rule)


COUNT = Kind(f"a whole number from 1 to {_MOST}", lambda v: _is_integer(v) and v >= 1)
NUMBER = Kind("a finite number", _is_number)
POSITIVE = Kind("a finite number above 0", lambda v: _is_number(v) and v > 0)
SHARE = Kind("a number from 0 to 1", lambda v: _is_number(v) and 0 <= v <= 1)
TOKEN = Kind("a token id", lambda v: _is_integer(v) and v >= 0)
TOKENS = Kind("a list of token ids", lambda v: _all(v, TOKEN.accepts))
TEXTS = Kind(
    "a list of texts, none empty",
    lambda v: _all(v, lambda text: isinstance(text, str) and bool(text)),
)
GUIDE = Kind(f"a map with one of {', '.join(GUIDES)}", _is_guide)

KINDS: Mapping[str, Kind] = {
    "min_tokens": COUNT,
    "bad": TEXTS,
    "bad_token_ids": TOKENS,
    "no_repeat_ngram_size": COUNT,
    "min_p": SHARE,
    "top_p_decay": SHARE,
    "top_p_min": SHARE,
    "top_p_reset_ids": TOKEN,
    "repetition_penalty": POSITIVE,
    "presence_penalty": NUMBER,
    "frequency_penalty": NUMBER,
    "prompt_ignore_length": COUNT,
    "thinking_token_budget": COUNT,
    "stop_token_ids": TOKENS,
    "guided_decoding": GUIDE,
}
"""Controls that a request can have."""

LATE = ("prompt_ignore_length", "thinking_token_budget")
"""Fields that older releases lack, in ``SamplingParams`` as in requests."""

PENALTIES = ("repetition_penalty", "presence_penalty", "frequency_penalty")

OURS: Mapping[str, str] = {
    "max_tokens": "--max-tokens",
    "temperature": "--temperature",
    "top_k": "--top-k",
    "top_p": "--top-p",
    "seed": "--seed",
    "stop": "--stop",
    "ignore_eos": "--ignore-eos",
    "end_id": "the model's own end tokens",
    "pad_id": "the model's own end tokens",
    "add_special_tokens": "--raw, or the chat template",
    "truncate_prompt_tokens": "limits.max_input_tokens, which refuses longer prompts",
    "detokenize": "the model's own tokenizer",
    "skip_special_tokens": "the model's own tokenizer",
    "spaces_between_special_tokens": "the model's own tokenizer",
    "include_stop_str_in_output": "--stop, which cuts the text before it",
    "return_perf_metrics": "the summary of the run",
}
"""Fields that trtspec sets itself → what sets them."""

ONE_OUTPUT = (
    *("n", "best_of", "use_beam_search", "beam_search_diversity_rate"),
    *("beam_width_array", "length_penalty", "early_stopping"),
)
"""Fields about several outputs of one request."""

FURTHER_RESULTS = (
    *("logprobs", "prompt_logprobs", "return_context_logits"),
    *("return_generation_logits", "return_encoder_output"),
    *("exclude_input_from_output", "additional_model_outputs"),
)
"""Fields that ask for more than tokens and text."""

OBJECTS = (
    *("embedding_bias", "logits_processor", "apply_batched_logits_processor"),
    "lookahead_config",
)
"""Fields whose values are Python objects."""

ALL = (*KINDS, *OURS, *ONE_OUTPUT, *FURTHER_RESULTS, *OBJECTS)

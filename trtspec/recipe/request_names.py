"""Which keys of a prompts file's line are controls of a request, not just remarks."""

from __future__ import annotations

from difflib import get_close_matches

SENT_BY_TRTSPEC = (
    *("temperature", "top_p", "top_k", "seed", "stop", "ignore_eos"),
    *("max_tokens", "max_completion_tokens", "max_new_tokens"),
)
"""Controls that trtspec's own requests have too, from the recipe or an option."""

CONTROLS = frozenset(
    (
        *SENT_BY_TRTSPEC,
        *("min_p", "top_p_min", "top_p_decay", "top_p_reset_ids", "do_sample"),
        *("n", "best_of", "use_beam_search", "beam_width_array", "num_beams"),
        *("beam_search_diversity_rate", "length_penalty", "early_stopping"),
        *("logprobs", "top_logprobs", "prompt_logprobs", "return_context_logits"),
        *("return_generation_logits", "logit_bias", "logits_processors"),
        *("repetition_penalty", "presence_penalty", "frequency_penalty"),
        *("no_repeat_ngram_size", "min_tokens", "min_new_tokens", "bad", "bad_words"),
        *("bad_token_ids", "stop_token_ids", "include_stop_str_in_output"),
        *("response_format", "guided_decoding", "guided_json", "guided_regex"),
        *("guided_choice", "guided_grammar", "structured_outputs", "tools"),
        *("tool_choice", "functions", "function_call", "parallel_tool_calls"),
        *("thinking_token_budget", "reasoning_effort", "prompt_ignore_length"),
        *("lora_request", "suffix", "truncate_prompt_tokens", "detokenize"),
        *("skip_special_tokens", "spaces_between_special_tokens"),
        *("add_special_tokens", "chat_template_kwargs"),
    )
)
"""Fields of a request that can change its output, under any server's name."""

_ALIKE = 0.85
_SHORTEST = 6


def misspelt(name: str) -> str:
    """Give the control that a key is a misspelling of; empty if of none."""
    if name in CONTROLS or len(name) < _SHORTEST:
        return ""
    return next(iter(get_close_matches(name, sorted(CONTROLS), 1, _ALIKE)), "")

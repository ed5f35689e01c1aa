"""What can be asked of one request? The fields of ``SamplingParams``."""

from __future__ import annotations

from typing import Any

FALSE = {
    "include_stop_str_in_output",
    "apply_batched_logits_processor",
    "use_beam_search",
    "return_context_logits",
    "return_generation_logits",
    "return_encoder_output",
    "return_perf_metrics",
    "ignore_eos",
}
TRUE = {
    "exclude_input_from_output",
    "detokenize",
    "add_special_tokens",
    "skip_special_tokens",
    "spaces_between_special_tokens",
}
NONE = {
    "end_id",
    "pad_id",
    "bad",
    "bad_token_ids",
    "stop",
    "stop_token_ids",
    "embedding_bias",
    "logits_processor",
    "best_of",
    "temperature",
    "top_k",
    "top_p",
    "top_p_min",
    "top_p_reset_ids",
    "top_p_decay",
    "min_p",
    "seed",
    "min_tokens",
    "beam_search_diversity_rate",
    "beam_width_array",
    "length_penalty",
    "early_stopping",
    "repetition_penalty",
    "presence_penalty",
    "frequency_penalty",
    "no_repeat_ngram_size",
    "logprobs",
    "prompt_logprobs",
    "additional_model_outputs",
    "lookahead_config",
    "guided_decoding",
    "truncate_prompt_tokens",
    "prompt_ignore_length",
    "thinking_token_budget",
}
DEFAULTS: dict[str, Any] = {
    "max_tokens": 32,
    "n": 1,
    **dict.fromkeys(FALSE, False),
    **dict.fromkeys(TRUE, True),
    **dict.fromkeys(NONE),
}
WHOLE = {"max_tokens", "n", "top_k", "seed", "min_tokens", "end_id"}
NUMBERS = {"temperature", "top_p", "min_p", "repetition_penalty"}


class SamplingParams:
    """A field that does not exist, or a value of another type, is refused."""

    def __init__(self, **given: Any) -> None:
        if unknown := sorted(set(given) - set(DEFAULTS)):
            raise TypeError(
                "SamplingParams.__init__() got an unexpected keyword argument "
                f"{unknown[0]!r}"
            )
        self.given = frozenset(given)
        for name, value in {**DEFAULTS, **given}.items():
            setattr(self, name, value)
            _check_type(name, value)
        self._check_values()

    def _check_values(self) -> None:
        values = vars(self)
        _require(values["max_tokens"] is None or values["max_tokens"] > 0, "max_tokens")
        _require((values["temperature"] or 0) >= 0, "temperature >= 0")
        top_p = values["top_p"]
        _require(top_p is None or 0 <= top_p <= 1, "top_p within 0..1")
        _require((values["top_k"] or 0) >= 0, "top_k >= 0")
        _require(values["n"] >= 1, "n >= 1")

    @property
    def greedy(self) -> bool:
        values = vars(self)
        keys = ("temperature", "top_k", "top_p")
        unset = all(values[key] is None for key in keys)
        zero = values["temperature"] == 0 or values["top_p"] == 0
        return unset or zero or values["top_k"] == 1

    def asked(self) -> dict[str, Any]:
        """What was given, for the record."""
        return {name: _plain(getattr(self, name)) for name in sorted(self.given)}


def _check_type(name: str, value: Any) -> None:
    if value is None and name != "n":
        return
    whole = isinstance(value, int) and not isinstance(value, bool)
    if name in WHOLE and not whole:
        raise TypeError(f"SamplingParams.{name} must be int, got {value!r}")
    if name in NUMBERS and not (whole or isinstance(value, float)):
        raise TypeError(f"SamplingParams.{name} must be float, got {value!r}")
    if name in FALSE | TRUE and not isinstance(value, bool):
        raise TypeError(f"SamplingParams.{name} must be bool, got {value!r}")


def _require(holds: Any, what: str) -> None:
    if not holds:
        raise ValueError(f"SamplingParams: {what}")


def _plain(value: Any) -> Any:
    simple = value is None or isinstance(value, str | int | float | list | dict)
    return value if simple else repr(value)

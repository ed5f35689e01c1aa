"""Which values do the configuration classes refuse?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.standins.executor.words import DecodingMode

SUB_CONFIGS = {
    "lookahead_decoding_config": "Lookahead",
    "medusa_choices": "Medusa",
    "eagle_config": "Eagle",
}
"""Arguments of DecodingConfig, and the mode that each belongs to."""
NOT_ASSIGNABLE = {"Medusa", "Lookahead", "ExplicitDraftTokens"}


class AssertionFailedError(RuntimeError):
    """A failed check of the library."""

    def __init__(self, what: str) -> None:
        super().__init__(f"[TensorRT-LLM][ERROR] Assertion failed: {what}")


def require(holds: bool, what: str) -> None:
    """Fail as the library's checks do.

    :raises AssertionFailedError: it does not hold.
    """
    if not holds:
        raise AssertionFailedError(what)


def nothing(config: Any) -> None:
    """Accept everything."""


def _between(value: float | None, what: str, holds: Callable[[float], bool]) -> None:
    require(value is None or holds(value), f"{what} is {value}")


def _external_drafts(config: Any) -> None:
    require(bool(config.tokens), "!mTokens.empty()")
    _between(config.acceptance_threshold, "acceptance_threshold", lambda t: 0 < t <= 1)
    if config.logits is not None:
        shape = tuple(config.logits.shape)
        require(len(shape) == 2, f"draft logits must have 2 dimensions, not {shape}")
        require(
            shape[0] == len(config.tokens),
            f"{shape[0]} rows of draft logits for {len(config.tokens)} draft tokens",
        )


def speculative_resource(w: int, n: int, g: int) -> tuple[int, int, int, int]:
    """(decoding tokens, path length, draft tokens, draft path length) of a (W, N, G).

    :raises AssertionFailedError: it is not legal.
    """
    legal = w >= 1 and n >= 1 and g >= 0 and (n > 1 or (w == 1 and g == 0))
    require(legal, f"lookahead (W, N, G) = ({w}, {n}, {g}) is not legal")
    draft = (0 if n == 1 else n - 2) + (w - 1 + g) * (n - 1)
    return draft + 1, n, draft, n - 1


def _lookahead(config: Any) -> None:
    config.calculate_speculative_resource()


def _eagle(config: Any) -> None:
    threshold = config.posterior_threshold
    _between(threshold, "posterior_threshold", lambda t: 0 <= t < 1)
    if getattr(config, "use_dynamic_tree", False):
        require(config.eagle_choices is None, "a dynamic tree and eagle_choices")
        top_k = config.dynamic_tree_max_topK
        require(bool(top_k) and top_k > 0, f"dynamic_tree_max_topK is {top_k}")


def _decoding(config: Any) -> None:
    for name, mode in SUB_CONFIGS.items():
        if getattr(config, name) is not None:
            chosen = config.decoding_mode
            require(chosen is not None, f"{name} is set, but decoding_mode is not")
            require(chosen.name == mode, f"{name} with decoding mode {chosen.name}")


def before_assignment(config: Any, name: str, value: Any) -> None:
    """Setting a sub-config sets the mode; some modes cannot be set alone."""
    if name in SUB_CONFIGS:
        for other in set(SUB_CONFIGS) - {name}:
            object.__setattr__(config, other, None)
        mode = DecodingMode(SUB_CONFIGS[name])
        object.__setattr__(config, "decoding_mode", mode)
    elif name == "decoding_mode":
        refused = value is not None and value.name in NOT_ASSIGNABLE
        require(not refused, f"decoding mode {value} must be given with its config")


def _sampling(config: Any) -> None:
    _between(config.beam_width, "beam_width", lambda b: b >= 1)
    _between(config.top_k, "top_k", lambda k: k >= 0)
    _between(config.top_p, "top_p", lambda p: 0 < p <= 1)
    _between(config.temperature, "temperature", lambda t: t > 0)
    _between(config.seed, "seed", lambda s: s >= 0)
    _between(config.min_tokens, "min_tokens", lambda m: m >= 1)


def _request(config: Any) -> None:
    require(bool(config.input_token_ids), "!mInputTokenIds.empty()")
    require(bool(config.max_tokens) and config.max_tokens > 0, "mMaxNewTokens > 0")


def _kv_cache(config: Any) -> None:
    fraction = config.free_gpu_memory_fraction
    _between(fraction, "free_gpu_memory_fraction", lambda f: 0 < f < 1)


def _parallel(config: Any) -> None:
    devices = config.device_ids
    if devices is not None:
        require(len(set(devices)) == len(devices) > 0, f"device_ids {devices}")


def _executor(config: Any) -> None:
    _between(config.max_beam_width, "max_beam_width", lambda b: b >= 1)
    _between(config.max_batch_size, "max_batch_size", lambda b: b >= 1)
    _between(config.max_num_tokens, "max_num_tokens", lambda n: n >= 1)


CHECKS: dict[str, Callable[[Any], None]] = {
    "ExternalDraftTokensConfig": _external_drafts,
    "LookaheadDecodingConfig": _lookahead,
    "EagleConfig": _eagle,
    "DecodingConfig": _decoding,
    "SamplingConfig": _sampling,
    "Request": _request,
    "KvCacheConfig": _kv_cache,
    "ParallelConfig": _parallel,
    "ExecutorConfig": _executor,
}

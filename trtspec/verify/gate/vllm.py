"""What a ``speculative_config`` of vLLM says of the output, key by key."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trtspec.forced_acceptance import forced_settings
from trtspec.verify.gate.asked import PENALTIES, Asked
from trtspec.verify.gate.result import Inspected, lossless, lossy, untold

SPECULATION = "speculative_config"
_CONFIG = "vllm/config/speculative.py"
_V0 = (
    "vllm/engine/arg_utils.py and vllm/model_executor/layers/"
    "typical_acceptance_sampler.py of the V0 engine"
)
_RULE = "rejection_sample_method"
_EXACT = {
    "standard": "rejection sampling by p/q, or against a point mass",
    "strict": "compared with a token sampled from the target",
    "probabilistic": "rejection sampling by p/q",
    "block": "block verification, arXiv 2403.10444, which keeps the distribution",
}
_LOSSY = {
    "synthetic": "accepts a set share of the drafts, right or wrong",
    "fly": "keeps rejected tokens where the target is unsure (arXiv 2511.22972)",
    "fuzzy": "keeps tokens while the two distributions are alike enough",
    "fsd": "keeps tokens while the two distributions are alike enough",
}
_ACCEPTORS = {
    "rejection_sampler": "rejection sampling by p/q",
    "typical_acceptance_sampler": "typical acceptance, arXiv 2401.10774",
}
_NEUTRAL = frozenset(
    (
        *("enforce_eager", "num_speculative_tokens", "model", "method", "quantization"),
        *("draft_tensor_parallel_size", "tensor_parallel_size", "moe_backend"),
        *("attention_backend", "kv_cache_dtype", "max_model_len", "revision"),
        *("code_revision", "index_share_for_mtp_iteration", "parallel_drafting"),
        *("disable_padded_drafter_batch", "disable_eagle_block_drop"),
        *("use_local_argmax_reduction", "use_heterogeneous_vocab"),
        *("prompt_lookup_max", "prompt_lookup_min", "draft_load_config"),
        *("num_speculative_tokens_per_batch_size", "disable_by_batch_size"),
        *("suffix_decoding_max_tree_depth", "suffix_decoding_max_cached_requests"),
        *("suffix_decoding_max_spec_factor", "suffix_decoding_min_token_prob"),
        *("enable_adaptive_verification", "draft_sample_method", "dspark_draft_topk"),
    )
)
"""Keys that decide what is drafted, or how much of it is verified (vllm/config/
speculative.py of October 2026; ``disable_by_batch_size`` of earlier ones)."""
_V0_FLAGS = ("spec", "num_speculative", "ngram_prompt", "typical_acceptance")
_V0_NEUTRAL = frozenset(
    (
        *("speculative_model", "speculative_model_quantization"),
        *("speculative_draft_tensor_parallel_size", "speculative_max_model_len"),
        *("speculative_disable_by_batch_size", "speculative_disable_mqa_scorer"),
        *("ngram_prompt_lookup_max", "ngram_prompt_lookup_min"),
    )
)
_DRAFTS = "decides what is drafted, or how, not what is accepted"
_UNKNOWN = "no source that was read says what this does"


def speculation_of(config: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Give a server's ``speculative_config``, or the file itself if it is one.

    None if there is no speculation in it. It may be text, as on the command line.
    """
    for key in (SPECULATION, SPECULATION.replace("_", "-")):
        if key in config:
            found = config[key]
            if isinstance(found, str):
                found = _parsed(found)
            return found if isinstance(found, Mapping) and found else None
    if "speculative_model" in config:  # flags of the V0 engine, among all others
        return {k: v for k, v in config.items() if k.startswith(_V0_FLAGS)}
    alone = "num_speculative_tokens" in config or _RULE in config
    return config if alone else None


def _parsed(text: str) -> object:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return {text: None}
    return found


def by_vllm(config: Mapping[str, Any], asked: Asked, where: str) -> Iterator[Inspected]:
    """Say of each key what it does to the output."""
    spec = speculation_of(config)
    if spec is None:
        given = config.get(SPECULATION)
        yield lossless(SPECULATION, where, given, "nothing is proposed", _CONFIG)
        return
    for key, value in spec.items():
        yield _key(key, value, where)
    if not {_RULE, *_OLD} & set(spec):
        meaning = f"by default {_EXACT['standard']}"
        yield lossless(_RULE, where, None, meaning, _CONFIG)
    yield from _elsewhere(config, spec, where)
    yield from _requests(asked)


def _key(key: str, value: object, where: str) -> Inspected:
    if rule := _RULES.get(key):
        return rule(key, value, where)
    if key in _NEUTRAL | _V0_NEUTRAL:
        return lossless(key, where, value, _DRAFTS, _CONFIG)
    if key.startswith("synthetic_acceptance") and value is not None:
        return lossy(key, where, value, _LOSSY["synthetic"], _CONFIG)
    return untold(key, where, value, _UNKNOWN)


def _rule(key: str, value: object, where: str) -> Inspected:
    text = "standard" if value is None else str(value)
    if text in _EXACT:
        return lossless(key, where, value, _EXACT[text], _CONFIG)
    if text in _LOSSY:
        return lossy(key, where, value, _LOSSY[text], _SOURCES.get(text, _CONFIG))
    return untold(key, where, value, _UNKNOWN)


_SOURCES = {
    "fly": "pull requests 50808 and 53987 of vllm-project/vllm",
    "fuzzy": "arXiv 2502.20704; a fork of vLLM",
    "fsd": "arXiv 2502.20704; a fork of vLLM",
}


def _acceptor(key: str, value: object, where: str) -> Inspected:
    text = "rejection_sampler" if value is None else str(value)
    make = {
        "rejection_sampler": lossless,
        "typical_acceptance_sampler": lossy,
    }.get(text, untold)
    return make(key, where, value, _ACCEPTORS.get(text, _UNKNOWN), _V0)


def _posterior(key: str, value: object, where: str) -> Inspected:
    if value is None:
        return lossless(key, where, value, "unset", _V0)
    what = "a threshold of typical acceptance, arXiv 2401.10774"
    return lossy(key, where, value, what, _V0)


def _if_unset(key: str, value: object, where: str) -> Inspected:
    if value in (None, "none"):
        return lossless(key, where, value, "unset", _CONFIG)
    return lossy(key, where, value, "loosens the target's distribution", "a fork")


_OLD = ("acceptance_method", "spec_decoding_acceptance_method")
_RULES: Mapping[str, Callable[[str, object, str], Inspected]] = {
    _RULE: _rule,
    **dict.fromkeys(_OLD, _acceptor),
    "posterior_threshold": _posterior,
    "posterior_alpha": _posterior,
    "typical_acceptance_sampler_posterior_threshold": _posterior,
    "typical_acceptance_sampler_posterior_alpha": _posterior,
    "fly_window_size": lambda k, v, w: untold(k, w, v, "a size of lossy acceptance"),
    "fly_entropy_threshold": lambda k, v, w: untold(
        k, w, v, "a threshold of lossy acceptance"
    ),
    "relaxed_target_method": _if_unset,
}


def _elsewhere(
    config: Mapping[str, Any], spec: Mapping[str, Any], where: str
) -> Iterator[Inspected]:
    """Find what stands outside of ``speculative_config``: old flags, other sections."""
    if config is spec:
        return
    others = {k: v for k, v in config.items() if k.replace("-", "_") != SPECULATION}
    for key in (k for k in _RULES if k in others and k not in spec):
        yield _key(key, others[key], where)
    for forced in forced_settings(others):
        yield lossy(forced.switch.name, where, forced.value, str(forced), _CONFIG)


def _requests(asked: Asked) -> Iterator[Inspected]:
    """Say what becomes of fields besides temperature, top-k and top-p."""
    refused = "vllm/sampling_params.py: refused with speculation"
    penalties = "issue 18902 and pull request 33251 of vllm-project/vllm"
    for name, value in asked.asks_for().items():
        if name in ("min_p", "logit_bias"):
            what = "such a request is answered with an error"
            yield lossless(name, asked.where, value, what, refused)
        elif name in PENALTIES:
            what = "dropped silently by some releases of the V1 engine, honoured later"
            yield untold(name, asked.where, value, what, penalties)
        else:
            yield untold(name, asked.where, value, _UNKNOWN)

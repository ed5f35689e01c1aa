"""What SGLang's server arguments say of the output, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trtspec.verify.gate.asked import PENALTIES, Asked
from trtspec.verify.gate.result import Inspected, lossless, lossy, untold

_ARGS = "python/sglang/srt/server_args.py"
_KERNEL = "sgl-kernel/csrc/speculative/speculative_sampling.cuh"
_PREFIX = "speculative_"
_ALGORITHM = "speculative_algorithm"
_ALIASES = {
    "speculative_algo": _ALGORITHM,
    "speculative_draft": "speculative_draft_model_path",
    "speculative_draft_model": "speculative_draft_model_path",
}
"""Shortened flags, as argparse takes them."""
_SINGLE = "speculative_accept_threshold_single"
_ACC = "speculative_accept_threshold_acc"
_THRESHOLDS = {
    _SINGLE: "a draft token of at least this probability is kept whatever is drawn",
    _ACC: "a draft token of probability p is kept with min(1, p / threshold)",
}
_SAMPLERS = (
    *("EAGLE", "EAGLE3", "NEXTN", "STANDALONE", "NGRAM"),
    "DFLASH",
)
_NEUTRAL = frozenset(
    (
        *("speculative_draft_model_path", "speculative_draft_model_revision"),
        *("speculative_draft_load_format", "speculative_num_steps"),
        *("speculative_eagle_topk", "speculative_num_draft_tokens"),
        *("speculative_token_map", "speculative_attention_mode"),
        *("speculative_draft_attention_backend", "speculative_moe_runner_backend"),
        *("speculative_moe_a2a_backend", "speculative_draft_model_quantization"),
        *("speculative_ngram_min_match_window_size", "speculative_ngram_capacity"),
        *("speculative_ngram_max_match_window_size", "speculative_ngram_match_type"),
        *("speculative_ngram_min_bfs_breadth", "speculative_ngram_max_bfs_breadth"),
        *("speculative_ngram_branch_length", "speculative_dflash_block_size"),
        *("speculative_draft_window_size", "speculative_dsa_topk_backend"),
    )
)
"""Arguments that decide what is drafted (python/sglang/srt/server_args.py)."""
_UNKNOWN = "no source that was read says what this does"
_PLATFORM = (
    "on NVIDIA GPUs the target's distribution is kept; on ROCm, NPU, XPU and CPU such "
    "requests were decoded greedily, and which of them runs the server is not known"
)
_PLATFORM_SOURCE = "pull requests 31214, 32495 and 39253 of sgl-project/sglang"
_GREEDY_ELSEWHERE = (
    "outside of NVIDIA GPUs verification took the likeliest token, whatever the "
    "temperature; whether this release still does is not established"
)
NVIDIA = "nvidia"


def by_sglang(
    args: Mapping[str, Any], asked: Asked, where: str, accelerator: str = ""
) -> Iterator[Inspected]:
    """Say of each argument about speculation what it does to the output.

    :param args: flags without dashes and with underscores, or a dump of ServerArgs.
    :param accelerator: what runs the server, such as ``nvidia``; empty if not known.
    """
    given = named(args)
    algorithm = given.get(_ALGORITHM)
    if not speculates(args):
        yield lossless(_ALGORITHM, where, algorithm, "nothing is proposed", _ARGS)
        return
    yield _algorithm(str(algorithm), asked, where, accelerator)
    yield from _thresholds(given, asked, where)
    for key, value in given.items():
        if key.startswith(_PREFIX) and key not in (_ALGORITHM, *_THRESHOLDS):
            yield _other(key, value, where)
    yield from _requests(asked)


def named(args: Mapping[str, Any]) -> dict[str, Any]:
    """Give the arguments under the names of ``ServerArgs``."""
    plain = {str(k).lstrip("-").replace("-", "_"): v for k, v in args.items()}
    return {_ALIASES.get(key, key): value for key, value in plain.items()}


def speculates(args: Mapping[str, Any]) -> bool:
    """Whether anything is proposed at all."""
    return str(named(args).get(_ALGORITHM) or "none").lower() != "none"


def drafts_ngrams(args: Mapping[str, Any]) -> bool:
    """Whether drafts come from n-grams, which have a variable of their own."""
    return str(named(args).get(_ALGORITHM)).upper() == "NGRAM"


def _algorithm(algorithm: str, asked: Asked, where: str, accelerator: str) -> Inspected:
    known = algorithm.upper() in _SAMPLERS
    if asked.mode() == "greedy" and known:
        what = "greedy requests are compared with the target's likeliest token"
        return lossless(_ALGORITHM, where, algorithm, what, _KERNEL)
    if not known:
        return untold(_ALGORITHM, where, algorithm, _UNKNOWN)
    if accelerator == NVIDIA:
        what = "sampled by the target's probabilities, from sibling to sibling"
        return lossless(_ALGORITHM, where, algorithm, what, _KERNEL)
    what = _GREEDY_ELSEWHERE if accelerator else _PLATFORM
    return untold(_ALGORITHM, where, algorithm, what, _PLATFORM_SOURCE)


def _thresholds(
    given: Mapping[str, Any], asked: Asked, where: str
) -> Iterator[Inspected]:
    for key, meaning in _THRESHOLDS.items():
        value = given.get(key)
        if _is_one(value):
            yield lossless(key, where, value, "1.0 loosens nothing", _ARGS)
        elif asked.mode() == "greedy":
            what = "greedy requests do not go by it"
            yield lossless(key, where, value, what, _KERNEL)
        else:
            yield lossy(key, where, value, meaning, _KERNEL)


def _is_one(value: object) -> bool:
    try:
        return value is None or float(str(value)) == 1.0
    except ValueError:
        return False


def _other(key: str, value: object, where: str) -> Inspected:
    if key == "speculative_use_rejection_sampling":
        what = "rejection sampling by p/q, as exact as without it"
        source = "pull request 26312 of sgl-project/sglang"
        return lossless(key, where, value, what, source)
    if key in _NEUTRAL:
        what = "decides what is drafted, or how, not what is accepted"
        return lossless(key, where, value, what, _ARGS)
    return untold(key, where, value, _UNKNOWN)


def _requests(asked: Asked) -> Iterator[Inspected]:
    source = "pull requests 22049 and 33643 of sgl-project/sglang"
    for name, value in asked.asks_for().items():
        if name in (*PENALTIES, "min_tokens", "min_new_tokens"):
            what = "only one token of a step is counted, so it is weaker than asked for"
            yield lossy(name, asked.where, value, what, source)
        else:
            yield untold(name, asked.where, value, _UNKNOWN)

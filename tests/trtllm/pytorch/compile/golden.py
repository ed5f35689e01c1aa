"""What each method reads like in each release, written out by hand.

From the releases' own documents: trtllm/pytorch-backend of the facts. None: refused.
"""

from __future__ import annotations

from typing import Any

from tests.trtllm.pytorch.compile.recipes import (
    AUTO,
    DFLASH,
    DRAFT_TARGET,
    EAGLE3,
    MTP,
    NGRAM,
    NONE,
    PARD,
    SUFFIX,
)

MAP = {8: 4, 32: 2}
DRAFT = {"speculative_model": "draft"}
DRAFT_DIR = {"speculative_model_dir": "draft"}
SAMPLED = {"allow_advanced_sampling": True}


def _by_release(*each: dict[str, Any] | None) -> dict[str, dict[str, Any] | None]:
    """1.0, 1.1, 1.2, and the newest releases, of which two are compiled for."""
    early = dict(zip(("1.0.0", "1.1.0", "1.2.1"), each[:3], strict=True))
    return {**early, "1.3.0rc22": each[3], "1.4.0rc4": each[3]}


def _main_only(config: dict[str, Any]) -> dict[str, dict[str, Any] | None]:
    return _by_release(None, None, None, config)


_EAGLE = {"decoding_type": "Eagle", "max_draft_len": 3}
_EAGLE_3 = {"decoding_type": "Eagle3", "max_draft_len": 3}
_EARLY_MTP = {"decoding_type": "MTP", "num_nextn_predict_layers": 3}
_MTP = {"decoding_type": "MTP", "max_draft_len": 3}
_NGRAM = {
    "decoding_type": "NGram",
    "max_draft_len": 4,
    "max_matching_ngram_size": 5,
}
_CUT_OFF = {**_NGRAM, "max_concurrency": 8}
_EARLY_PAIR = {"decoding_type": "DraftTarget", "max_draft_len": 4}
_PAIR = {"decoding_type": "Draft_Target", "max_draft_len": 4, **DRAFT}
_RELAXED = {
    "use_relaxed_acceptance_for_thinking": True,
    "relaxed_topk": 10,
    "relaxed_delta": 0.6,
}
_UPPER = {"BEGIN_THINKING_PHASE_TOKEN": 1, "END_THINKING_PHASE_TOKEN": 2}
_LOWER = {"begin_thinking_phase_token": 1, "end_thinking_phase_token": 2}
_APART = {"eagle3_one_model": False}
_LAYERS = {"eagle3_layers_to_capture": [1, 15, 28]}

Row = tuple[dict[str, Any], dict[str, dict[str, Any] | None]]
ROWS: dict[str, Row] = {
    "none": (NONE, _by_release({}, {}, {}, {})),
    "eagle3": (
        EAGLE3,
        _by_release(
            {**_EAGLE, **DRAFT_DIR},
            {**_EAGLE, **DRAFT_DIR},
            {**_EAGLE, **DRAFT, **SAMPLED},
            {**_EAGLE_3, **DRAFT},
        ),
    ),
    "eagle3 as two models": (
        {**EAGLE3, "two_model": True},
        _by_release(
            {**_EAGLE, **DRAFT_DIR, **_APART},
            {**_EAGLE, **DRAFT_DIR, **_APART},
            {**_EAGLE, **DRAFT, **_APART},
            None,
        ),
    ),
    "eagle3 with layers": (
        {**EAGLE3, "layers_to_capture": [1, 15, 28]},
        _by_release(
            None,
            {**_EAGLE, **DRAFT_DIR, **_LAYERS},
            {**_EAGLE, **DRAFT, **SAMPLED, **_LAYERS},
            {**_EAGLE_3, **DRAFT, **_LAYERS},
        ),
    ),
    "eagle3 by batch": (
        {**EAGLE3, "draft_length": MAP},
        _by_release(
            None,
            None,
            {
                **_EAGLE,
                **DRAFT,
                **_APART,
                "max_draft_len": 4,
                "draft_len_schedule": {1: 4, 9: 2, 33: 0},
            },
            {
                **_EAGLE_3,
                **DRAFT,
                "max_draft_len": 4,
                "draft_len_schedule": {8: 4, 32: 2},
            },
        ),
    ),
    "eagle3 up to eight": (
        {**EAGLE3, "draft_length": {8: 3}},
        _by_release(
            None,
            {**_EAGLE, **DRAFT_DIR, **_APART, "max_concurrency": 8},
            {**_EAGLE, **DRAFT, **_APART, "max_concurrency": 8},
            {**_EAGLE_3, **DRAFT, "draft_len_schedule": {8: 3}},
        ),
    ),
    "eagle3 with a dynamic tree": (
        {**EAGLE3, "tree": "dynamic", "tree_top_k": 4, "tree_tokens": 9},
        _main_only(
            {
                **_EAGLE_3,
                **DRAFT,
                "use_dynamic_tree": True,
                "dynamic_tree_max_topK": 4,
                "max_total_draft_tokens": 9,
            }
        ),
    ),
    "eagle3 with suffixes": (
        {**EAGLE3, "suffix_threshold": 5},
        _main_only({**_EAGLE_3, **DRAFT, "sa_config": {"threshold": 5}}),
    ),
    "eagle3 by rejection": (
        {**EAGLE3, "rejection_sampling": True},
        _main_only({**_EAGLE_3, **DRAFT, "use_rejection_sampling": True}),
    ),
    "draft_target": (
        DRAFT_TARGET,
        _by_release(
            {**_EARLY_PAIR, **DRAFT_DIR},
            {**_EARLY_PAIR, **DRAFT_DIR},
            {**_EARLY_PAIR, **DRAFT},
            _PAIR,
        ),
    ),
    "draft_target by batch": (
        {**DRAFT_TARGET, "draft_length": MAP},
        _by_release(
            None,
            None,
            {**_EARLY_PAIR, **DRAFT, "draft_len_schedule": {1: 4, 9: 2, 33: 0}},
            {**_PAIR, "draft_len_schedule": {8: 4, 32: 2}},
        ),
    ),
    "mtp": (
        MTP,
        _by_release(_EARLY_MTP, _EARLY_MTP, {**_EARLY_MTP, **SAMPLED}, _MTP),
    ),
    "mtp, relaxed": (
        {
            **MTP,
            "acceptance": "relaxed",
            "relaxed_top_k": 10,
            "relaxed_delta": 0.6,
            "thinking_tokens": [1, 2],
        },
        _by_release(
            {**_EARLY_MTP, **_RELAXED, **_UPPER},
            {**_EARLY_MTP, **_RELAXED, **_UPPER},
            {**_EARLY_MTP, **SAMPLED, **_RELAXED, **_LOWER},
            {**_MTP, **_RELAXED, **_LOWER},
        ),
    ),
    "mtp, vanilla": (
        {**MTP, "vanilla": True},
        _by_release(
            {**_EARLY_MTP, "use_mtp_vanilla": True},
            {**_EARLY_MTP, "use_mtp_vanilla": True},
            {**_EARLY_MTP, **SAMPLED, "use_mtp_vanilla": True},
            {**_MTP, "use_mtp_vanilla": True},
        ),
    ),
    "mtp by batch": (
        {**MTP, "draft_length": {8: 3, 64: 1}},
        _main_only({**_MTP, "draft_len_schedule": {8: 3, 64: 1}}),
    ),
    "ngram": (NGRAM, _by_release(_NGRAM, _NGRAM, _NGRAM, _NGRAM)),
    "ngram up to eight": (
        {**NGRAM, "draft_length": {8: 4}},
        _by_release(None, _CUT_OFF, _CUT_OFF, _CUT_OFF),
    ),
    "ngram by batch": (
        {**NGRAM, "draft_length": MAP},
        _by_release(
            None, None, {**_NGRAM, "draft_len_schedule": {1: 4, 9: 2, 33: 0}}, None
        ),
    ),
    "suffix": (
        SUFFIX,
        _main_only(
            {"decoding_type": "SA", "max_draft_len": 4, "max_matching_ngram_size": -1}
        ),
    ),
    "suffix with a pool": (
        {
            **SUFFIX,
            "max_matching_ngram": 6,
            "global_pool": True,
            "global_pool_size": 128,
        },
        _main_only(
            {
                "decoding_type": "SA",
                "max_draft_len": 4,
                "max_matching_ngram_size": 6,
                "enable_global_pool": True,
                "global_pool_size": 128,
            }
        ),
    ),
    "pard": (
        {**PARD, "mask_token_id": 7},
        _main_only(
            {"decoding_type": "PARD", "max_draft_len": 4, **DRAFT, "mask_token_id": 7}
        ),
    ),
    "dflash": (
        {**DFLASH, "mask_token_id": 9, "target_layers": [1, 9]},
        _main_only(
            {
                "decoding_type": "DFlash",
                "max_draft_len": 7,
                **DRAFT,
                "mask_token_id": 9,
                "target_layer_ids": [1, 9],
            }
        ),
    ),
    "auto": (AUTO, _by_release(*[{"decoding_type": "AUTO"}] * 4)),
}
"""Name → speculation section, and per version its ``speculative_config``."""

SERVED: dict[str, Any] = {
    "dtype": "bfloat16",
    "tensor_parallel_size": 1,
    "max_batch_size": 64,
    "max_num_tokens": 8192,
    "max_seq_len": 8192,
    "kv_cache_config": {"free_gpu_memory_fraction": 0.85, "enable_block_reuse": True},
    "cuda_graph_config": {"enable_padding": True, "max_batch_size": 64},
    "enable_iter_perf_stats": True,
}
"""The rest of the YAML that every release has."""
PERF_METRICS_SINCE_1_1 = {"return_perf_metrics": True}
NO_OVERLAP = {
    "1.0.0": ("draft_target", "eagle3 as two models", "ngram", "auto"),
    "1.1.0": ("ngram", "ngram up to eight", "auto"),
    "1.2.1": (
        "ngram",
        "ngram up to eight",
        "ngram by batch",
        "auto",
        "eagle3 by batch",
        "draft_target by batch",
    ),
    "1.3.0rc22": ("ngram", "ngram up to eight", "auto"),
    "1.4.0rc4": ("ngram", "ngram up to eight", "auto"),
}
"""Rows that go without the overlap scheduler."""

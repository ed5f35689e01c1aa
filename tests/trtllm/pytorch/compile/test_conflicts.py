"""Keys that do not go together, or have no effect, are faults."""

from __future__ import annotations

import pytest

from tests.trtllm.pytorch.compile.judged import APART, EAGLE, SA, places, spoken
from tests.trtllm.pytorch.compile.recipes import NEWEST


@pytest.mark.parametrize(
    ("version", "kind", "config", "where"),
    [
        ("1.2.1", "Eagle", {"max_draft_len": 3}, "speculative_model"),
        ("1.0.0", "Eagle", {"max_draft_len": 3}, "speculative_model_dir"),
        ("1.2.1", "Eagle", {"speculative_model": "d"}, "max_draft_len"),
        ("1.2.1", "Eagle", {**EAGLE, "max_draft_len": 0}, "max_draft_len"),
        ("1.2.1", "NGram", {"max_draft_len": 3}, "max_matching_ngram_size"),
        ("1.2.1", "MTP", {"max_draft_len": 3}, "max_draft_len"),
        (
            "1.2.1",
            "MTP",
            {"max_draft_len": 3, "num_nextn_predict_layers": 3},
            "max_draft_len",
        ),
        ("1.2.1", "MTP", {"num_nextn_predict_layers": 0}, "num_nextn_predict_layers"),
        (NEWEST, "MTP", {"num_nextn_predict_layers": 3}, "num_nextn_predict_layers"),
        (NEWEST, "SA", {**SA, "max_matching_ngram_size": 0}, "max_matching_ngram_size"),
        (
            NEWEST,
            "SA",
            {**SA, "enable_global_pool": True, "max_matching_ngram_size": 65},
            "max_matching_ngram_size",
        ),
        (NEWEST, "SA", {**SA, "global_pool_size": 64}, "global_pool_size"),
        (NEWEST, "AUTO", {"max_draft_len": 3}, "max_draft_len"),
    ],
)
def test_what_a_method_cannot_do_without_or_with(version, kind, config, where):
    assert list(spoken(version, kind, **config)) == [where]


def test_both_lengths_of_mtp_on_the_newest_releases_are_two_faults():
    found = spoken(NEWEST, "MTP", max_draft_len=3, num_nextn_predict_layers=2)
    assert "max_draft_len wins" in found["max_draft_len"]
    assert "deprecated" in found["num_nextn_predict_layers"]


BRANCHING = {"use_dynamic_tree": True, "dynamic_tree_max_topK": 2}


@pytest.mark.parametrize(
    ("version", "kind", "config", "said"),
    [
        ("1.2.1", "Eagle", {**APART, "draft_len_schedule": {8: 3}}, "no key 1"),
        ("1.2.1", "Eagle", {**APART, "draft_len_schedule": {1: 2}}, "begins with 2"),
        ("1.2.1", "Eagle", {**APART, "draft_len_schedule": {1: 3, 5: 4}}, "above"),
        ("1.2.1", "Eagle", {**APART, "draft_len_schedule": {1: 3, 5: -1}}, "below 0"),
        (
            "1.2.1",
            "Eagle",
            {**APART, "draft_len_schedule": {0: 3, 1: 3}},
            "has the key 0",
        ),
        ("1.2.1", "Eagle", {**APART, "draft_len_schedule": {}}, "empty"),
        ("1.2.1", "Eagle", {**EAGLE, "draft_len_schedule": {1: 3}}, "no effect"),
        (NEWEST, "Eagle3", {**EAGLE, "draft_len_schedule": {8: 2}}, "begins with 2"),
        (NEWEST, "Eagle3", {**EAGLE, "draft_len_schedule": {8: 3, 9: 4}}, "above"),
        (
            NEWEST,
            "Eagle3",
            {**EAGLE, "draft_len_schedule": {8: 3}, "max_concurrency": 8},
            "stands beside",
        ),
        (
            NEWEST,
            "NGram",
            {"max_draft_len": 3, "draft_len_schedule": {8: 3}},
            "no effect",
        ),
        (
            NEWEST,
            "MTP",
            {**SA, **BRANCHING, "draft_len_schedule": {8: 3}},
            "no effect",
        ),
        (NEWEST, "SA", {**SA, "draft_len_schedule": {"8": 3}}, "is not a map of whole"),
    ],
)
def test_schedules(version, kind, config, said):
    found = spoken(version, kind, **config)
    assert list(found) == ["draft_len_schedule"]
    assert said in found["draft_len_schedule"]


@pytest.mark.parametrize(
    ("version", "kind", "config", "is_fault"),
    [
        ("1.1.0", "Eagle", EAGLE, True),
        ("1.1.0", "Eagle", APART, False),
        ("1.2.1", "MTP", {"num_nextn_predict_layers": 3}, True),
        ("1.2.1", "DraftTarget", EAGLE, False),
        ("1.2.1", "NGram", {**SA, "max_matching_ngram_size": 3}, False),
        (NEWEST, "Eagle3", EAGLE, False),
    ],
)
def test_one_model_engines_ignore_a_cut_off_up_to_1_2(version, kind, config, is_fault):
    found = spoken(version, kind, **config, max_concurrency=8)
    assert list(found) == ["max_concurrency"] * is_fault


@pytest.mark.parametrize("key", ["draft_len_schedule", "max_concurrency"])
def test_a_drafter_of_the_users_own_is_driven_and_auto_has_no_such_keys(key):
    value = {1: 3, 5: 0} if key == "draft_len_schedule" else 8
    assert key not in spoken("1.2.1", "UserProvided", **SA, **{key: value})
    assert "no such key" in spoken("1.2.1", "AUTO", **{key: value})[key]
    assert len(spoken("1.2.1", "AUTO", **{key: value})) == 1


OLD = {"acceptance_window": 5, "acceptance_length_threshold": 1.5}
NEW = {"acceptance_rate_window_size": 5, "acceptance_rate_threshold": 0.5}


@pytest.mark.parametrize(
    ("version", "kind", "config", "where"),
    [
        ("1.2.1", "DraftTarget", {**EAGLE, **OLD}, []),
        ("1.2.1", "Eagle", {**APART, **OLD}, []),
        ("1.2.1", "Eagle", {**EAGLE, **OLD}, ["acceptance_window"]),
        ("1.2.1", "DraftTarget", {**EAGLE, **NEW}, [*NEW]),
        (NEWEST, "Eagle3", {**EAGLE, **OLD}, [*OLD]),
        ("1.3.0rc22", "Eagle3", {**EAGLE, **NEW}, [*NEW]),
        (NEWEST, "Eagle3", {**EAGLE, **NEW}, []),
        (NEWEST, "NGram", {**SA, **NEW}, ["acceptance_rate_window_size"]),
        (
            NEWEST,
            "Eagle3",
            {**EAGLE, **NEW, "acceptance_rate_threshold": 1.6},
            ["acceptance_rate_threshold"],
        ),
        (
            NEWEST,
            "Eagle3",
            {**EAGLE, "acceptance_rate_threshold": 0.5},
            ["acceptance_rate_threshold"],
        ),
        (
            "1.2.1",
            "DraftTarget",
            {**EAGLE, **OLD, "acceptance_window": -1},
            ["acceptance_window"],
        ),
    ],
)
def test_gates(version, kind, config, where):
    assert list(spoken(version, kind, **config)) == where


TREE = {**EAGLE, "use_dynamic_tree": True, "dynamic_tree_max_topK": 4}


@pytest.mark.parametrize(
    ("kind", "config", "where"),
    [
        ("Eagle3", {**TREE, "max_total_draft_tokens": 12}, []),
        ("Eagle3", {**TREE, "max_total_draft_tokens": 13}, ["max_total_draft_tokens"]),
        ("Eagle3", {**TREE, "max_total_draft_tokens": 2}, ["max_total_draft_tokens"]),
        ("Eagle3", {**EAGLE, "use_dynamic_tree": True}, ["dynamic_tree_max_topK"]),
        ("Eagle3", {**EAGLE, "max_batch_size": 4}, ["max_batch_size"]),
        ("MTP", BRANCHING, ["max_draft_len"]),
        ("MTP", {**SA, **BRANCHING}, []),
        ("MTP", {**SA, "use_mtp_vanilla": True, "draft_len_schedule": {8: 3}}, []),
        ("Eagle3", {**EAGLE, "use_rejection_sampling": True}, []),
        ("NGram", {**SA, "use_rejection_sampling": True}, ["use_rejection_sampling"]),
        ("SA", {**SA, "use_rejection_sampling": True}, ["use_rejection_sampling"]),
        (
            "Eagle3",
            {**EAGLE, "sa_config": {"threshold": 3}, "use_rejection_sampling": True},
            ["use_rejection_sampling"],
        ),
        (
            "Eagle3",
            {**TREE, "dynamic_tree_max_topK": 33, "use_rejection_sampling": True},
            ["use_rejection_sampling"],
        ),
        (
            "MTP",
            {
                **SA,
                "use_relaxed_acceptance_for_thinking": True,
                "use_rejection_sampling": True,
            },
            ["use_rejection_sampling"],
        ),
        ("Eagle3", {**EAGLE, "sa_config": {"threshhold": 3}}, ["sa_config.threshhold"]),
    ],
)
def test_trees_rejection_and_suffixes(kind, config, where):
    assert list(spoken(NEWEST, kind, **config)) == where


@pytest.mark.parametrize(
    ("kind", "others", "where"),
    [
        ("Eagle3", {"guided_decoding_backend": "xgrammar"}, []),
        (
            "MTP",
            {"guided_decoding_backend": "xgrammar"},
            ["speculative_config.use_rejection_sampling"],
        ),
        ("Eagle3", {"pipeline_parallel_size": 2}, ["pipeline_parallel_size"]),
    ],
)
def test_what_speculation_excludes_in_the_rest_of_the_yaml(kind, others, where):
    config = {"decoding_type": kind, **EAGLE, "use_rejection_sampling": True}
    assert places(NEWEST, {"speculative_config": config, **others}) == where


POOL = {"decoding_type": "SA", **SA, "enable_global_pool": True, "global_pool_size": 64}
LOOKUP = {"decoding_type": "NGram", **SA, "max_matching_ngram_size": 2}


@pytest.mark.parametrize(
    ("version", "others", "where"),
    [
        (NEWEST, {"speculative_config": POOL, "max_batch_size": 64}, []),
        (
            NEWEST,
            {"speculative_config": POOL, "max_batch_size": 65},
            ["speculative_config.global_pool_size"],
        ),
        (
            "1.0.0",
            {"speculative_config": LOOKUP, "guided_decoding_backend": "xgrammar"},
            ["guided_decoding_backend"],
        ),
        (
            "1.1.0",
            {"speculative_config": LOOKUP, "guided_decoding_backend": "xgrammar"},
            [],
        ),
        ("1.0.0", {"guided_decoding_backend": "xgrammar"}, []),
        ("1.0.0", {"kv_cache_config": {"dtype": "nvfp4"}}, ["kv_cache_config.dtype"]),
        ("1.1.0", {"kv_cache_config": {"dtype": "nvfp4"}}, []),
    ],
)
def test_what_depends_on_the_rest_of_the_yaml(version, others, where):
    assert places(version, others) == where


EP, TP = "moe_expert_parallel_size", "moe_tensor_parallel_size"
CLUSTERS = "moe_cluster_parallel_size"


@pytest.mark.parametrize(
    ("split", "where"),
    [
        ({EP: 4}, []),
        ({EP: -1}, []),
        ({EP: 3}, [EP]),
        ({EP: 16}, [EP]),
        ({TP: 3}, [TP]),
        ({EP: 4, TP: 2}, []),
        ({EP: 2, TP: 2}, [EP]),
        ({EP: 2, TP: 2, CLUSTERS: 2}, []),
        ({EP: 4, CLUSTERS: 4}, [EP]),
        ({CLUSTERS: 3}, [CLUSTERS]),
    ],
)
def test_experts_are_shared_by_equal_groups_of_the_gpus(split, where):
    assert places(NEWEST, {"tensor_parallel_size": 8, **split}) == where


def test_two_names_of_the_draft_model_together_are_a_fault():
    found = spoken("1.2.1", "Eagle", **EAGLE, speculative_model="d")
    assert list(found) == ["speculative_model_dir"]

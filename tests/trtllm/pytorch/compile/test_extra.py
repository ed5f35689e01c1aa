"""Keys of a recipe's own: merged where they fit, refused where trtspec has a word."""

from __future__ import annotations

import pytest
from packaging.version import Version

from tests.trtllm.pytorch.compile.recipes import (
    EAGLE3,
    NEWEST,
    NGRAM,
    NONE,
    USER,
    args,
    compiled,
    refusal,
)
from trtspec.trtllm.facts.llm_args import TOP_LEVEL, keys, speculation_classes
from trtspec.trtllm.pytorch.compile.words import word_for


def extra(**llm_args):
    return {"pytorch": {"llm_args": llm_args}}


@pytest.mark.parametrize("version", ["1.0.0", NEWEST])
def test_a_key_without_a_word_of_ours_is_added_and_says_who_asked(version):
    made = compiled(version, NONE, **extra(stream_interval=2))
    assert made.args.to_dict()["stream_interval"] == 2
    assert "llm_args" in dict(made.args.leaves())[("stream_interval",)].why
    plain = args(version, NONE)
    assert {**plain, "stream_interval": 2} == made.args.to_dict()


def test_maps_are_merged_key_by_key():
    written = args(
        NEWEST,
        NGRAM,
        **extra(
            kv_cache_config={"tokens_per_block": 64},
            speculative_config={"is_keep_all": False},
            scheduler_config={"capacity_scheduler_policy": "MAX_UTILIZATION"},
            torch_compile_config={"capture_num_tokens": [1, 2]},
        ),
    )
    assert written["kv_cache_config"] == {
        "free_gpu_memory_fraction": 0.85,
        "enable_block_reuse": True,
        "tokens_per_block": 64,
    }
    assert written["speculative_config"]["is_keep_all"] is False
    assert written["speculative_config"]["max_draft_len"] == 4
    policy = {"capacity_scheduler_policy": "MAX_UTILIZATION"}
    assert written["scheduler_config"] == policy
    assert written["torch_compile_config"] == {"capture_num_tokens": [1, 2]}


def test_a_map_that_the_facts_do_not_describe_is_taken_as_it_is():
    given = {"sparse_attention_config": {"algorithm": "rocket", "top": {"k": [1]}}}
    assert args(NEWEST, NONE, **extra(**given)).items() >= given.items()


@pytest.mark.parametrize(
    ("given", "path", "advice"),
    [
        ({"max_batch_size": 3}, ("max_batch_size",), "limits.max_batch_size"),
        ({"attn_backend": "TRTLLM"}, ("attn_backend",), "attention_backend"),
        (
            {"kv_cache_config": {"dtype": "fp8"}},
            ("kv_cache_config", "dtype"),
            "pytorch.kv_cache",
        ),
        (
            {"speculative_config": {"max_draft_len": 9}},
            ("speculative_config", "max_draft_len"),
            "speculation.draft_length",
        ),
        (
            {"speculative_config": {"use_relaxed_acceptance_for_thinking": True}},
            ("speculative_config", "use_relaxed_acceptance_for_thinking"),
            "speculation.acceptance",
        ),
        ({"trust_remote_code": True}, ("trust_remote_code",), "not run"),
        ({"max_beam_width": 2}, ("max_beam_width",), "no beam search"),
        ({"enable_iter_perf_stats": False}, ("enable_iter_perf_stats",), "delete it"),
        ({"speculative_config": None}, ("speculative_config",), "delete it"),
    ],
)
def test_what_trtspec_writes_or_has_a_word_for_is_refused(given, path, advice):
    remark = refusal(NEWEST, EAGLE3, **extra(**given))
    assert remark.rule == "llm-args"
    assert remark.key == ("pytorch", "llm_args", *path)
    assert ".".join(path) in remark.what
    assert advice in remark.action
    assert compiled(NEWEST, EAGLE3, **extra(**given)).args == (
        compiled(NEWEST, EAGLE3).args
    )


SHARED = ("pipeline_parallel_size", "context_parallel_size")


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0", "1.2.1", NEWEST])
@pytest.mark.parametrize("key", SHARED)
def test_further_ways_to_share_a_model_are_refused_next_to_speculation(version, key):
    remark = refusal(version, EAGLE3, **extra(**{key: 2}))
    assert remark.key == ("pytorch", "llm_args", key)
    assert f"{key} 2 next to speculation (eagle3)" in remark.what
    assert f"delete {key} and " in remark.action
    assert "target.tensor_parallel, or take method: none" in remark.action
    assert remark.why
    assert remark.source
    assert remark.values == {"key": key, "value": 2, "method": "eagle3"}


@pytest.mark.parametrize("key", SHARED)
def test_they_are_written_where_nothing_is_drafted_and_1_changes_nothing(key):
    assert args(NEWEST, NONE, **extra(**{key: 2}))[key] == 2
    assert args(NEWEST, EAGLE3, **extra(**{key: 1}))[key] == 1


SMUGGLED = {"speculative_config": {"decoding_type": "NGram", "max_draft_len": 3}}


def test_speculation_cannot_be_smuggled_in():
    remark = refusal(NEWEST, USER, **extra(**SMUGGLED))
    assert "section speculation" in remark.action


def test_the_off_arm_may_keep_keys_of_speculation_which_have_no_effect():
    made = compiled(NEWEST, NONE, **extra(**SMUGGLED))
    assert [remark.severity for remark in made.remarks] == ["note"]
    assert made.args == compiled(NEWEST, NONE).args


@pytest.mark.parametrize(
    ("version", "given", "said"),
    [
        (NEWEST, {"stream_intervall": 2}, "stream_interval?"),
        ("1.0.0", {"return_perf_metrics": True}, "has no key"),
        (NEWEST, {"kv_cache_config": {"onboard_blocks": True}}, "has no key"),
        (NEWEST, {"perf_metrics_max_requests": 4}, "is deprecated"),
        (NEWEST, {"stream_interval": "often"}, "it takes a whole number"),
        (NEWEST, {"stream_interval": 0}, "stream_interval is 0, which is not above 0"),
        (NEWEST, {"scheduler_config": 3}, "which is not a map"),
    ],
)
def test_what_the_version_does_not_take_is_refused(version, given, said):
    remark = refusal(version, NONE, **extra(**given))
    assert said in f"{remark.what} {remark.why} {remark.action}"


@pytest.mark.parametrize("version", ["1.0.0", "1.2.1", NEWEST])
def test_every_key_that_is_written_for_some_recipe_has_a_word(version):
    known = Version(version)
    for name in speculation_classes():
        for key in keys(name, known):
            if "draft" in key and key not in _OTHERS:
                assert word_for(("speculative_config", key)), key
    for key in ("model", "dtype", "max_num_tokens", "guided_decoding_backend"):
        assert key in keys(TOP_LEVEL, known)
        assert word_for((key,))


_OTHERS = ("draft_lm_head_dtype", "draft_moe_dtype")

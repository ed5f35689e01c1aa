"""Arguments and attributes of the executor's classes."""

import pytest
from packaging.version import Version

from tests.trtllm.facts.numbers import CANDIDATES, DRIVEN, WITHOUT_BACKEND
from trtspec.trtllm import facts
from trtspec.trtllm.facts.read import established

USED = {
    "ExecutorConfig": {
        "max_batch_size",
        "max_num_tokens",
        "kv_cache_config",
        "parallel_config",
        "decoding_config",
        "enable_chunked_context",
        "spec_dec_config",
        "max_beam_width",
    },
    "Request": {
        "input_token_ids",
        "max_tokens",
        "streaming",
        "sampling_config",
        "output_config",
        "end_id",
        "pad_id",
        "stop_words",
        "external_draft_tokens_config",
        "lookahead_config",
        "client_id",
    },
    "OutputConfig": {
        "return_perf_metrics",
        "return_generation_logits",
        "exclude_input_from_output",
    },
    "ExternalDraftTokensConfig": {"tokens", "logits", "acceptance_threshold"},
    "KvCacheConfig": {"enable_block_reuse", "free_gpu_memory_fraction"},
    "DecodingConfig": {
        "decoding_mode",
        "lookahead_decoding_config",
        "medusa_choices",
        "eagle_config",
    },
    "EagleConfig": {"eagle_choices", "greedy_sampling", "posterior_threshold"},
    "SamplingConfig": {"beam_width", "top_k", "top_p", "seed", "temperature"},
}


@pytest.mark.parametrize("version", DRIVEN, ids=str)
@pytest.mark.parametrize("name", USED)
def test_every_argument_we_pass_exists(name, version):
    assert USED[name] <= set(facts.fields(name, version))


@pytest.mark.parametrize("part", ["arguments", "attributes"])
@pytest.mark.parametrize("name", facts.class_names())
def test_no_field_is_described_twice_for_a_version(name, part):
    for version in (*DRIVEN, *CANDIDATES):
        known = established(facts.all_fields(name, part), version)
        names = [field.name for field in known]
        assert len(names) == len(set(names))


@pytest.mark.parametrize("name", facts.class_names())
def test_required_arguments_have_no_default(name):
    for field in facts.all_fields(name):
        assert not field.required or field.default is None, field


def test_dynamic_tree_of_eagle_is_known_from_0_19():
    dynamic = {"use_dynamic_tree", "dynamic_tree_max_topK"}
    for number in ("0.17.0", "0.18.2"):
        assert not dynamic & set(facts.fields("EagleConfig", Version(number)))
    for number in ("0.19.0", "0.20.0", "1.2.1", "1.3.0rc20"):
        assert dynamic <= set(facts.fields("EagleConfig", Version(number)))


def test_lookahead_sizes_have_to_be_given():
    sizes = facts.fields("LookaheadDecodingConfig", Version("0.20.0"))
    assert set(sizes) == {
        "max_window_size",
        "max_ngram_size",
        "max_verification_set_size",
    }
    assert all(size.required for size in sizes.values())


def test_acceptance_is_among_the_metrics_from_0_19():
    before, since = Version("0.18.2"), Version("0.19.0")
    assert "speculative_decoding" not in facts.attributes("RequestPerfMetrics", before)
    assert "speculative_decoding" in facts.attributes("RequestPerfMetrics", since)
    assert "decoding_iter" in facts.attributes("Result", before)


@pytest.mark.parametrize("version", WITHOUT_BACKEND, ids=str)
def test_nothing_is_known_without_the_backend(version):
    for name in facts.class_names():
        assert facts.fields(name, version) == {}
        assert facts.attributes(name, version) == {}


def test_unknown_class_has_no_fields():
    assert facts.fields("NoSuchConfig", DRIVEN[0]) == {}


def test_the_largest_top_k_is_known():
    assert facts.most_top_k() == 1024

"""Which keys the YAML has in each version, what they are called, and their limits."""

import pytest
from packaging.version import Version

from tests.trtllm.facts.numbers_pytorch import NEWEST, OF_NO_FAMILY, readable
from trtspec.trtllm import facts
from trtspec.trtllm.facts import llm_args
from trtspec.trtllm.facts.read import established
from trtspec.trtllm.versions import contains, is_specifier

V1_0, V1_1, V1_2, RC22, RC27, NOW = NEWEST
EVERY_KEY = tuple(
    (name, key) for name in facts.arg_classes() for key in facts.all_keys(name)
)


@pytest.mark.parametrize(
    ("name", "key"), EVERY_KEY, ids=lambda each: getattr(each, "name", each)
)
def test_every_key_has_a_range_in_some_family_and_a_source(name, key):
    assert is_specifier(key.versions)
    assert len(key.source) > 10
    assert any(established([key], version) for version in NEWEST)


@pytest.mark.parametrize("name", facts.arg_classes())
def test_no_version_has_a_key_twice(name):
    versions = [*NEWEST, *(Version(f"1.3.0rc{n}") for n in range(22, 30))]
    for version in (*versions, Version("1.4.0rc0"), Version("1.4.0rc1")):
        names = [key.name for key in established(facts.all_keys(name), version)]
        assert len(names) == len(set(names)), (name, version)


def test_the_sections_are_the_described_maps_under_the_top():
    told = {key.name: key.section for key in facts.all_keys(llm_args.TOP_LEVEL)}
    described = {name: section for name, section in told.items() if section}
    assert described == llm_args.SECTIONS


def test_a_class_that_is_not_described_cannot_be_a_type(monkeypatch):
    described = {"A": {"keys": [_group("b", "Missing")]}}
    monkeypatch.setattr(llm_args, "document", lambda name: {"classes": described})
    with pytest.raises(ValueError, match="no class Missing"):
        llm_args.all_keys.__wrapped__("A")


def _group(name, kind):
    entry = {"name": name, "type": kind}
    return {"versions": ">=1.0", "source": "a page", "entries": [entry]}


@pytest.mark.parametrize("version", OF_NO_FAMILY, ids=str)
def test_a_version_of_no_family_has_no_keys_and_no_types(version):
    for name in facts.arg_classes():
        assert facts.keys(name, version) == {}
    assert facts.class_of("Eagle", version) is None
    assert facts.decoding_type("EagleDecodingConfig", version) is None


OLD = {"Eagle", "MTP", "NGram", "AUTO", "DraftTarget", "UserProvided"}
NEW = {"Eagle", "Eagle3", "MTP", "NGram", "AUTO", "Draft_Target", "User_Provided"}
NEW |= {"SA", "PARD", "DFlash", "DSpark", "SaveState"}


@pytest.mark.parametrize(
    ("version", "spellings"),
    [
        (V1_0, OLD),
        (V1_1, OLD),
        (V1_2, OLD | {"SaveState"}),
        (RC22, NEW),
        (NOW, NEW),
    ],
    ids=readable,
)
def test_decoding_types_as_each_version_spells_them(version, spellings):
    told = {
        facts.decoding_type(name, version): name
        for name in facts.speculation_classes()
        if facts.runs_on_pytorch(name)
    }
    told.pop(None, None)
    assert set(told) == spellings
    for spelled, name in told.items():
        assert facts.class_of(spelled, version) == name


def test_medusa_and_lookahead_have_a_type_up_to_1_2_and_do_not_run():
    for name in ("MedusaDecodingConfig", "LookaheadDecodingConfig"):
        assert not facts.runs_on_pytorch(name)
        assert facts.decoding_type(name, V1_2)
        assert facts.decoding_type(name, RC22) is None


def test_automatic_speculation_counts_none_of_the_keys_it_inherits():
    assert all(facts.keys(llm_args.AUTO, version) == {} for version in NEWEST)


@pytest.mark.parametrize(
    ("class_name", "key", "version", "default"),
    [
        ("NGramDecodingConfig", "max_matching_ngram_size", V1_2, 0),
        ("NGramDecodingConfig", "max_matching_ngram_size", RC22, 2),
        ("MTPDecodingConfig", "num_nextn_predict_layers", V1_2, 1),
        ("MTPDecodingConfig", "num_nextn_predict_layers", RC22, None),
        ("MoeConfig", "backend", V1_0, "CUTLASS"),
        ("MoeConfig", "backend", NOW, "AUTO"),
        ("CudaGraphConfig", "max_batch_size", V1_0, 0),
        ("DSparkDecodingConfig", "attention_backend", RC27, "VANILLA"),
        ("DSparkDecodingConfig", "attention_backend", NOW, "AUTO"),
    ],
)
def test_defaults_that_changed(class_name, key, version, default):
    assert facts.keys(class_name, version)[key].default == default


@pytest.mark.parametrize(
    ("class_name", "key", "version", "required"),
    [
        ("NGramDecodingConfig", "max_matching_ngram_size", V1_0, True),
        ("NGramDecodingConfig", "max_matching_ngram_size", NOW, False),
        ("EagleDecodingConfig", "speculative_model_dir", V1_1, True),
        ("EagleDecodingConfig", "speculative_model_dir", V1_2, False),
        ("EagleDecodingConfig", "speculative_model", V1_2, True),
        ("DraftTargetDecodingConfig", "speculative_model_dir", V1_0, True),
        ("MTPDecodingConfig", "speculative_model", NOW, False),
        ("DSparkDecodingConfig", "speculative_model", NOW, False),
    ],
)
def test_keys_that_have_to_be_given(class_name, key, version, required):
    assert facts.keys(class_name, version)[key].required is required


@pytest.mark.parametrize(
    ("class_name", "key", "value", "why"),
    [
        ("Eagle3DecodingConfig", "max_draft_len", 0, "is 0, which is not above 0"),
        ("SADecodingConfig", "max_matching_ngram_size", -1, ""),
        ("SADecodingConfig", "max_matching_ngram_size", -2, "is -2, which is below -1"),
        ("DecodingBaseConfig", "acceptance_rate_threshold", 1.0, ""),
        (
            "DecodingBaseConfig",
            "acceptance_rate_threshold",
            2.5,
            "is 2.5, which is above 1",
        ),
        ("DecodingBaseConfig", "max_concurrency", 0, "is 0, which is not above 0"),
        ("KvCacheConfig", "free_gpu_memory_fraction", 1.2, "is 1.2, which is above 1"),
        ("KvCacheConfig", "use_kv_cache_manager_v2", "auto", ""),
        ("TorchLlmArgs", "stream_interval", 0, "is 0, which is not above 0"),
        ("TorchLlmArgs", "cuda_graph_config", None, ""),
        ("MTPDecodingConfig", "relaxed_delta", -0.1, "is -0.1, which is below 0"),
        ("CudaGraphConfig", "batch_sizes", [0, 1], "holds 0, which is not above 0"),
    ],
)
def test_values_and_limits_on_the_newest_version(class_name, key, value, why):
    assert facts.keys(class_name, NOW)[key].accepts(value) == why


def test_what_a_top_k_alone_does_is_said_of_the_releases_that_it_holds_for():
    for class_name in ("Eagle3DecodingConfig", "EagleDecodingConfig"):
        key = facts.keys(class_name, NOW)["dynamic_tree_max_topK"]
        assert key.constraint == "required with use_dynamic_tree"
        assert "newest releases" in key.note
        assert "rc20" in key.note


DEPRECATED = {
    V1_0: {"eagle_choices", "num_eagle_layers", "greedy_sampling"}
    | {"posterior_threshold", "is_auto_heuristic"}
    | {"num_nextn_predict_layers_from_model_config"},
    V1_2: {"eagle_choices", "num_eagle_layers", "greedy_sampling"}
    | {"posterior_threshold", "mtp_eagle_one_model"}
    | {"num_nextn_predict_layers_from_model_config"},
    RC22: {"eagle_choices", "num_eagle_layers", "greedy_sampling"}
    | {"posterior_threshold", "mtp_eagle_one_model", "eagle3_one_model"}
    | {"num_nextn_predict_layers", "allow_advanced_sampling"},
    RC27: {"eagle_choices", "num_eagle_layers"}
    | {"num_nextn_predict_layers", "allow_advanced_sampling"},
    NOW: {"num_nextn_predict_layers", "allow_advanced_sampling"},
}


@pytest.mark.parametrize("version", DEPRECATED, ids=str)
def test_keys_of_speculation_that_a_version_knows_and_wants_gone(version):
    gone = {
        name
        for class_name in facts.speculation_classes()
        for name, key in facts.keys(class_name, version).items()
        if key.deprecated and contains(key.deprecated, version)
    }
    assert gone == DEPRECATED[version]


def test_the_statistics_that_acceptance_is_read_from_can_be_asked_for_everywhere():
    for version in NEWEST:
        assert "enable_iter_perf_stats" in facts.keys(llm_args.TOP_LEVEL, version)
    assert "return_perf_metrics" not in facts.keys(llm_args.TOP_LEVEL, V1_0)
    assert "max_stats_len" in facts.keys(llm_args.TOP_LEVEL, RC27)

"""Which arguments the classes of each version take, and which they refuse."""

import pytest
from packaging.version import Version
from pydantic import ValidationError

from tests.standins.llm.classes import make_classes
from tests.standins.llm.samples import MAIN, VERSIONS
from trtspec.trtllm.facts import llm_args

MODEL = {"speculative_model_dir": "draft"}
EAGLE = {"decoding_type": "Eagle", "max_draft_len": 4, **MODEL}
NGRAM = {"decoding_type": "NGram", "max_draft_len": 3, "max_matching_ngram_size": 2}
ALL, UP_TO_12 = tuple(VERSIONS), ("1.0.0", "1.1.0", "1.2.1")


def classes(version, notes=None):
    def note(event, **data):
        if notes is not None:
            notes.append((event, data["key"]))

    return make_classes(Version(version), note)


def arguments(version, speculation=None, **given):
    config = {} if speculation is None else {"speculative_config": speculation}
    return classes(version)["TorchLlmArgs"](model="target", **config, **given)


def refused(version, pattern, speculation=None, **given):
    with pytest.raises(ValidationError, match=pattern):
        arguments(version, speculation, **given)


def foreign_keys(version):
    """Keys that a class has in another version only."""
    for name in classes(version):
        if name == "LlmArgs":
            continue
        here = llm_args.keys(name, Version(version))
        names = {n for key in here.values() for n in (key.name, key.alias)}
        for other in VERSIONS:
            for key in set(llm_args.keys(name, Version(other))) - names:
                yield name, key


@pytest.mark.parametrize("version", VERSIONS)
def test_every_key_of_another_family_is_refused(version):
    made = classes(version)
    foreign = set(foreign_keys(version))
    assert len(foreign) > 10
    for name, key in foreign:
        with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
            made[name](**{key: None})


@pytest.mark.parametrize("version", VERSIONS)
def test_every_misspelt_key_is_refused(version):
    for name, made in classes(version).items():
        if name == "LlmArgs":
            continue
        for key in llm_args.keys(name, Version(version)):
            with pytest.raises(ValidationError, match="Extra inputs"):
                made(**{f"{key}_": None})


@pytest.mark.parametrize("version", VERSIONS)
def test_every_plain_key_refuses_another_type(version):
    wrong = {"int": "three", "bool": "yes", "float": "much", "str": 3}
    tried = 0
    for name, made in classes(version).items():
        if name == "LlmArgs":
            continue
        for key in llm_args.keys(name, Version(version)).values():
            kind = key.type.partition("|")[0]
            if kind in wrong and "'" not in key.type and "object" not in key.type:
                tried += 1
                with pytest.raises(ValidationError, match=rf"\n{key.name}"):
                    made(**{key.name: wrong[kind]})
    assert tried > 50


@pytest.mark.parametrize("version", VERSIONS)
def test_defaults_are_those_of_the_facts_and_maps_become_classes(version):
    made = arguments(version, kv_cache_config={"free_gpu_memory_fraction": 0.5})
    assert made.kv_cache_config.free_gpu_memory_fraction == 0.5
    assert made.kv_cache_config.enable_block_reuse is True
    assert made.max_batch_size == 2048
    assert made.speculative_config is None
    refused(version, "Extra inputs", kv_cache_config={"fraction": 0.5})
    refused(version, "out of range", kv_cache_config={"free_gpu_memory_fraction": 1.5})


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("spelled", "where"),
    [
        ("DraftTarget", UP_TO_12),
        ("Draft_Target", MAIN),
        ("Eagle", ALL),
        ("Eagle3", MAIN),
        ("PARD", MAIN),
        ("DFlash", MAIN),
        ("Draft-Target", ()),
        ("eagle3", ()),
    ],
)
def test_a_decoding_type_is_known_where_the_version_spells_it_so(
    version, spelled, where
):
    config = {**EAGLE, "decoding_type": spelled}
    if version in where:
        made = arguments(version, config).speculative_config
        assert made.max_draft_len == 4
        assert hasattr(made, "decoding_type") == (version in MAIN)
    else:
        refused(version, "Invalid decoding type", config)


@pytest.mark.parametrize("spelled", ["Medusa", "Lookahead"])
def test_methods_of_the_other_backend_are_refused(spelled):
    for version in VERSIONS:
        message = "Invalid decoding" if version in MAIN else "not supported by the Py"
        refused(version, message, {"decoding_type": spelled})


SCHEDULE = {"draft_len_schedule": {1: 4, 9: 2, 33: 0}}
UPPER = {"draft_len_schedule": {8: 4, 32: 2}}
REJECTS = {"use_rejection_sampling": True}
TREE = {"use_dynamic_tree": True, "dynamic_tree_max_topK": 2}
MTP = {"decoding_type": "MTP"}
EAGLE3 = {**EAGLE, "decoding_type": "Eagle3"}


@pytest.mark.parametrize(
    ("versions", "speculation", "message"),
    [
        (UP_TO_12[:2], {**EAGLE, **SCHEDULE}, "Extra inputs"),
        (("1.0.0",), {**EAGLE, "max_concurrency": 4}, "Extra inputs"),
        (("1.2.1",), {**EAGLE, **UPPER}, "must include batch size 1"),
        (("1.2.1",), {**EAGLE, "draft_len_schedule": {1: 3}}, "must equal max_draft"),
        (ALL[2:], {**EAGLE, "draft_len_schedule": {1: 4, 2: 5}}, "within 0..4"),
        (MAIN, {**EAGLE3, "draft_len_schedule": {8: 3, 9: 2}}, "must equal max_draft"),
        (MAIN, {**EAGLE3, **UPPER, "max_concurrency": 4}, "cannot be set together"),
        (MAIN, {**NGRAM, "draft_len_schedule": {8: 3}}, "does not support"),
        (ALL, {**NGRAM, "max_draft_len": 0}, "out of range|must be > 0"),
        (UP_TO_12, {**NGRAM, "max_matching_ngram_size": 0}, "out of range|size"),
        (UP_TO_12, {"decoding_type": "NGram", "max_draft_len": 3}, "Field required"),
        (ALL, {"decoding_type": "Eagle", "max_draft_len": 3}, "Field required"),
        (ALL[:2], {**EAGLE, "speculative_model": "draft"}, "Extra inputs"),
        (UP_TO_12, {**MTP, "num_nextn_predict_layers": 0}, "out of range|> 0"),
        (MAIN, {**MTP, "max_draft_len": 0}, "out of range"),
        (MAIN, {**EAGLE3, **TREE, "max_total_draft_tokens": 9}, "must be between"),
        (MAIN, {**EAGLE3, **TREE, "max_total_draft_tokens": 3}, "must be between"),
        (MAIN, {**EAGLE3, "use_dynamic_tree": True}, "topK must be > 0"),
        (MAIN, {**NGRAM, **REJECTS}, "not supported with NGram"),
        (MAIN, {**EAGLE3, **REJECTS, "sa_config": {}}, "not supported with sa_config"),
        (
            MAIN,
            {**EAGLE3, **REJECTS, **TREE, "dynamic_tree_max_topK": 33},
            "topK > 32",
        ),
        (
            MAIN,
            {**MTP, **REJECTS, "use_relaxed_acceptance_for_thinking": True},
            "relaxed acceptance",
        ),
        (("1.4.0rc4",), {**EAGLE3, "acceptance_rate_threshold": 1.5}, "out of range"),
        (("1.2.1",), {**EAGLE, "acceptance_window": -1}, "out of range"),
        (MAIN, {"decoding_type": "SA", "max_draft_len": 4}, None),
        (UP_TO_12[2:], {**EAGLE, **SCHEDULE}, None),
        (MAIN, {**EAGLE3, **UPPER}, None),
        (MAIN, {"decoding_type": "NGram", "max_draft_len": 3}, None),
        (ALL, {**MTP, "num_nextn_predict_layers": 3}, None),
        (MAIN, {**EAGLE3, **TREE, "max_total_draft_tokens": 8}, None),
        (ALL, {"decoding_type": "AUTO"}, None),
    ],
)
def test_speculation_obeys_the_documented_rules(versions, speculation, message):
    for version in versions:
        if message is None:
            assert arguments(version, speculation).speculative_config is not None
        else:
            refused(version, message, speculation)


@pytest.mark.parametrize("version", VERSIONS)
def test_speculation_needs_one_pipeline_stage(version):
    refused(version, "pipeline parallelism", NGRAM, pipeline_parallel_size=2)
    assert arguments(version, pipeline_parallel_size=2).pipeline_parallel_size == 2


@pytest.mark.parametrize("version", VERSIONS)
def test_graph_sizes_come_from_one_of_two_keys(version):
    both = {"batch_sizes": [1, 2, 5], "max_batch_size": 5}
    refused(version, "don't set both", cuda_graph_config=both)
    refused(version, "sorted", cuda_graph_config={"batch_sizes": [4, 2]})
    for config in ({"batch_sizes": [1, 2, 5]}, {"max_batch_size": 5}):
        arguments(version, cuda_graph_config=config)
    same = {"batch_sizes": [1, 2, 4, 8], "max_batch_size": 8, "enable_padding": True}
    arguments(version, cuda_graph_config=same)


@pytest.mark.parametrize("version", MAIN)
def test_rejection_sampling_and_guided_decoding_go_together_in_eagle3_only(version):
    guided = {"guided_decoding_backend": "xgrammar"}
    arguments(version, {**EAGLE3, **REJECTS}, **guided)
    config = {**EAGLE, **REJECTS, "decoding_type": "Draft_Target"}
    refused(version, "guided decoding", config, **guided)


def test_a_deprecated_key_is_taken_and_told(capsys):
    notes = []
    made = classes("1.4.0rc4", notes)
    made["TorchLlmArgs"](
        model="target", speculative_config={**MTP, "num_nextn_predict_layers": 2}
    )
    assert notes == [("deprecated", "num_nextn_predict_layers")]
    assert "num_nextn_predict_layers is deprecated" in capsys.readouterr().out

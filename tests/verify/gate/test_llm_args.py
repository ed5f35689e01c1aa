"""Configurations of TensorRT-LLM's LLM API, key by key."""

from __future__ import annotations

import pytest

from tests.verify.gate.asking import judged, of, read
from trtspec.trtllm.facts.families import FAMILIES, newest_of
from trtspec.trtllm.facts.llm_args import (
    decoding_type,
    keys,
    runs_on_pytorch,
    speculation_classes,
)

MAIN = "1.4.0rc4"


def yaml(kind: str, **settings) -> str:
    lines = [f"  {key}: {value}" for key, value in settings.items()]
    return "\n".join(["speculative_config:", f"  decoding_type: {kind}", *lines]) + "\n"


EAGLE = yaml("Eagle", max_draft_len=3, speculative_model="head")


def test_advanced_sampling_has_to_be_allowed_on_1_2():
    off = read(EAGLE, version="1.2.1", environment={})
    assert off.verdict == "fail"
    assert of(off, "speculative_config.allow_advanced_sampling").value == "unset"

    on = EAGLE + "  allow_advanced_sampling: true\n"
    assert read(on, version="1.2.1", environment={}).verdict == "pass"
    assert read(EAGLE, 0.0, version="1.2.1", environment={}).verdict == "pass"
    false = EAGLE + "  allow_advanced_sampling: false\n"
    assert read(false, version="1.2.1", environment={}).verdict == "fail"


def test_two_models_of_1_2_sample_without_it():
    text = EAGLE + "  eagle3_one_model: false\n"

    assert read(text, version="1.2.1", environment={}).verdict == "pass"


def test_it_plays_no_role_on_the_newest_releases():
    text = yaml("Eagle3", max_draft_len=3, speculative_model="head")

    assert read(text, version=MAIN, environment={}).verdict == "pass"


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_relaxed_acceptance_fails_with_its_sizes(temperature):
    text = yaml(
        "MTP",
        max_draft_len=3,
        use_relaxed_acceptance_for_thinking="true",
        relaxed_topk=10,
        relaxed_delta=0.6,
    )

    result = read(text, temperature, version=MAIN, environment={})
    assert result.verdict == "fail"
    assert of(result, "speculative_config.relaxed_delta").effect == "lossy"


def test_sizes_of_relaxed_acceptance_alone_do_nothing():
    text = yaml("MTP", max_draft_len=3, relaxed_topk=10, relaxed_delta=0.6)

    assert read(text, version=MAIN, environment={}).verdict == "pass"


@pytest.mark.parametrize(
    ("backend", "verdict"), [("pytorch", "pass"), ("tensorrt", "fail")]
)
def test_a_posterior_threshold_counts_on_engines_only(backend, verdict):
    text = EAGLE + "  posterior_threshold: 0.09\n"

    result = read(text, 0.0, version="1.2.1", environment={}, backend=backend)
    assert result.verdict == verdict


def test_the_file_itself_may_name_the_backend():
    text = "backend: tensorrt\n" + EAGLE + "  posterior_threshold: 0.09\n"

    result = read(text, 0.0, version="1.2.1", environment={})
    assert result.verdict == "fail"
    assert result.engine == "TensorRT-LLM, backend tensorrt"


@pytest.mark.parametrize(
    ("mode", "top_k", "verdict"),
    [
        ("full", 50, "pass"),
        ("no_topk", 50, "fail"),
        ("no_topk", 0, "pass"),
        ("no_topk_no_topp", 50, "fail"),
        ("no_topp", 50, "pass"),
        ("no_such", 0, "cannot tell"),
    ],
)
def test_filters_that_speculation_skips(mode, top_k, verdict):
    text = yaml(
        "Eagle3",
        max_draft_len=3,
        speculative_model="head",
        advanced_sampling_mode=mode,
    )

    result = read(text, version=MAIN, environment={}, top_k=top_k)
    assert result.verdict == verdict


def test_an_acceptance_threshold_fails():
    text = yaml("Draft_Target", max_draft_len=3, acceptance_threshold=0.8)

    assert read(text, 0.0, version=MAIN, environment={}).verdict == "fail"


def test_an_unknown_key_is_not_passed():
    text = EAGLE + "  fuzzy_threshold: 0.4\n"

    result = read(text, 0.0, version="1.2.1", environment={})
    assert result.verdict == "cannot tell"
    assert "no source" in of(result, "speculative_config.fuzzy_threshold").meaning


def test_a_key_of_another_release_is_not_passed():
    text = yaml("Eagle", max_draft_len=3, speculative_model="h", num_eagle_layers=1)

    result = read(text, 0.0, version=MAIN, environment={})
    assert result.verdict == "cannot tell"
    assert "would not start" in result.reasons[0]


def test_an_unknown_type_is_not_passed():
    result = read(yaml("Fuzzy"), 0.0, version=MAIN, environment={})

    assert result.verdict == "cannot tell"


def test_collecting_hidden_states_is_not_passed():
    text = yaml("SaveState", output_directory="d", eagle3_layers_to_capture="[1]")

    assert read(text, 0.0, version="1.2.1", environment={}).verdict == "cannot tell"


@pytest.mark.parametrize(
    ("given", "temperature", "verdict"),
    [
        ("sampler_type: TRTLLMSampler", 0.7, "cannot tell"),
        ("sampler_type: TRTLLMSampler", 0.0, "pass"),
        ("sampler_type: auto", 0.7, "pass"),
        ("enable_trtllm_sampler: true", 0.7, "cannot tell"),
    ],
)
def test_another_sampler(given, temperature, verdict):
    text = f"{given}\n{EAGLE}  allow_advanced_sampling: true\n"

    assert read(text, temperature, version="1.2.1", environment={}).verdict == verdict


def test_a_static_tree_is_settled_for_greedy_requests_only():
    text = EAGLE + "  eagle_choices: [[0], [1]]\n  allow_advanced_sampling: true\n"

    assert read(text, version="1.2.1", environment={}).verdict == "cannot tell"
    assert read(text, 0.0, version="1.2.1", environment={}).verdict == "pass"


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_without_speculation_nothing_is_lost(temperature):
    text = "kv_cache_config: {enable_block_reuse: true}\n"

    result = read(text, temperature, version="1.2.1", kind="trtllm")
    assert result.verdict == "pass"


def test_the_environment_of_a_server_has_to_be_told():
    assert read(EAGLE, 0.0, version="1.2.1").verdict == "cannot tell"


def test_without_a_version_greedy_is_settled_and_sampled_is_not():
    assert read(EAGLE, 0.0, environment={}).verdict == "pass"
    assert read(EAGLE, environment={}).verdict == "cannot tell"


@pytest.mark.parametrize("family", FAMILIES)
def test_every_class_with_only_required_keys_is_settled_for_greedy_requests(family):
    version = newest_of(family)
    for name in speculation_classes():
        kind = decoding_type(name, version)
        if kind is None or not runs_on_pytorch(name) or kind == "SaveState":
            continue
        given = {k: 1 for k, key in keys(name, version).items() if key.required}
        result = read(yaml(kind, **given), 0.0, version=str(version), environment={})
        assert result.verdict == "pass", (name, result.reasons)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_key_of_every_release_is_known_to_the_gate(family):
    """None of them is called unknown: what is, is no key of that release."""
    version = newest_of(family)
    for name in speculation_classes():
        if (kind := decoding_type(name, version)) is None:
            continue
        given = dict.fromkeys(keys(name, version), "null")
        result = read(yaml(kind, **given), 0.0, version=str(version), environment={})
        texts = [each.meaning for each in result.inspected]
        assert not any("no source says what this key" in text for text in texts), name


def test_a_recipe_is_judged_by_what_it_compiles_to():
    result = judged("pytorch", "eagle3", "1.2.1", sampling={"temperature": 0.7})

    compiled = of(result, "speculative_config.allow_advanced_sampling")
    assert compiled.value == "true"
    assert "compiled" in compiled.where


def test_further_keys_of_a_recipe_are_judged_too():
    more = {"pytorch": {"llm_args": {"sampler_type": "TRTLLMSampler"}}}

    result = judged(
        "pytorch", "ngram", "1.2.1", sampling={"temperature": 0.7}, more=more
    )
    assert result.verdict == "cannot tell"
    assert of(result, "sampler_type").value == "TRTLLMSampler"

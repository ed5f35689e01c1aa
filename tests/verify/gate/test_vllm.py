"""Configurations of vLLM, key by key."""

from __future__ import annotations

import json

import pytest

from tests.verify.gate.asking import of, read

EAGLE = {"method": "eagle3", "model": "head", "num_speculative_tokens": 3}


def config(**given) -> str:
    return json.dumps({"speculative_config": {**EAGLE, **given}})


@pytest.mark.parametrize("temperature", [0.0, 0.7])
@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        (None, "pass"),
        ("standard", "pass"),
        ("strict", "pass"),
        ("probabilistic", "pass"),
        ("block", "pass"),
        ("synthetic", "fail"),
        ("fly", "fail"),
        ("fuzzy", "fail"),
        ("of_tomorrow", "cannot tell"),
    ],
)
def test_rules_of_rejection(rule, verdict, temperature):
    text = config(rejection_sample_method=rule) if rule else config()

    result = read(text, temperature)
    assert result.verdict == verdict
    assert result.engine == "vLLM"
    assert of(result, "rejection_sample_method").value == (rule or "unset")


@pytest.mark.parametrize(
    "given",
    [
        {"synthetic_acceptance_length": 2.5},
        {"synthetic_acceptance_rates": [0.9, 0.5, 0.1]},
        {"acceptance_method": "typical_acceptance_sampler"},
        {"posterior_threshold": 0.09},
        {"posterior_alpha": 0.3},
        {"relaxed_target_method": "cactus"},
    ],
)
def test_lossy_settings_fail(given):
    assert read(config(**given)).verdict == "fail"


@pytest.mark.parametrize(
    "given",
    [
        {"fly_window_size": 6},
        {"something_new": 1},
        {"acceptance_method": "another"},
    ],
)
def test_unknown_settings_are_not_passed(given):
    assert read(config(**given)).verdict == "cannot tell"


def test_the_speculative_config_alone_is_enough():
    assert read(json.dumps(EAGLE)).verdict == "pass"
    lossy = {**EAGLE, "rejection_sample_method": "synthetic"}
    assert read(json.dumps(lossy)).verdict == "fail"


def test_a_command_line_is_read():
    line = "vllm serve meta/llama --tensor-parallel-size 2 --speculative-config '{}'"

    assert read(line.format(json.dumps(EAGLE))).verdict == "pass"
    lossy = json.dumps({**EAGLE, "rejection_sample_method": "synthetic"})
    assert read(line.format(lossy)).verdict == "fail"


def test_flags_of_the_v0_engine_are_read():
    line = "vllm serve m --speculative-model d --num-speculative-tokens 5"

    assert read(line).verdict == "pass"
    typical = "--spec-decoding-acceptance-method typical_acceptance_sampler"
    assert read(f"{line} {typical}").verdict == "fail"
    threshold = "--typical-acceptance-sampler-posterior-threshold 0.09"
    assert read(f"{line} {threshold}").verdict == "fail"


def test_a_server_without_speculation_passes():
    assert read("vllm serve meta/llama --max-model-len 4096").verdict == "pass"


def test_text_that_is_no_json_is_not_passed():
    line = "vllm serve m --speculative-config {broken"

    assert read(line).verdict == "cannot tell"


@pytest.mark.parametrize(
    ("control", "verdict"),
    [
        ("min_p", "pass"),
        ("logit_bias", "pass"),
        ("frequency_penalty", "cannot tell"),
        ("logprobs", "cannot tell"),
    ],
)
def test_what_requests_ask_for(control, verdict):
    assert read(config(), controls={control: 5}).verdict == verdict


def test_the_unknown_environment_does_not_matter():
    result = read(config(), environment=None)

    assert result.verdict == "pass"
    assert not [each for each in result.inspected if each.where == "environment"]


def test_a_setting_is_found_outside_of_the_speculative_config():
    whole = json.loads(config()) | {
        "additional": {"rejection_sample_method": "synthetic"}
    }

    assert read(json.dumps(whole)).verdict == "fail"
